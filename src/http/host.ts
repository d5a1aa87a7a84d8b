/** Creates what recognises, in a Host header (RFC 9110 §7.2), the host of an origin: in any case, with its default port or not. */
export function createIsHostOf(origin: string): (host: string) => boolean {
  const { host, hostname, port, protocol } = new URL(origin);
  const spelt = new Set([host, `${hostname}.${port === '' ? '' : `:${port}`}`]);
  const defaultPort = protocol === 'https:' ? 443 : 80;
  if (port === '') for (const name of [hostname, `${hostname}.`]) spelt.add(`${name}:${defaultPort}`);
  return (sent) => spelt.has(sent.toLowerCase());
}
