/** Creates what recognises, in a Host header (RFC 9110 §7.2), the host of an origin: in any case, with its default port or not. */
export function createIsHostOf(origin: string): (host: string) => boolean {
  const { host, hostname, port, protocol } = new URL(origin);
  const spelt = new Set([host, `${hostname}.${port === '' ? '' : `:${port}`}`]);
  const defaultPort = protocol === 'https:' ? 443 : 80;
  if (port === '') for (const name of [hostname, `${hostname}.`]) spelt.add(`${name}:${defaultPort}`);
  return (sent) => spelt.has(sent.toLowerCase());
}

/**
 * Creates what recognises, in a Host header, the host of an origin with any port: browsers send the cookies of a host to all
 * its ports (RFC 6265 §8.5).
 */
export function createIsNameOf(origin: string): (host: string) => boolean {
  const { hostname } = new URL(origin);
  return (sent) => {
    const host = sent.toLowerCase();
    return host.startsWith(hostname) && /^\.?(?::\d*)?$/.test(host.slice(hostname.length));
  };
}
