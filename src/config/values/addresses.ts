import ipaddr from 'ipaddr.js';
import { hasValidPort, hostPattern } from './authority.ts';
import type { TextRule } from './scalars.ts';

const originPattern = new RegExp(`^[a-z][a-z0-9+.-]*://${hostPattern}$`);

/** An http or https origin, exactly as browsers write it, optionally followed by one slash. */
export const originRule: TextRule = (text) => {
  const url = URL.parse(text);
  if (!/^https?:\/\//i.test(text) || !url) return 'must be an http:// or https:// URL';
  if (url.username || url.password || url.pathname !== '/' || /[?#]/.test(text))
    return 'must not have a user, path, query or fragment';
  if (!originPattern.test(url.origin)) return 'must have a host name or address';
  // Issuer, audience and Origin are compared byte for byte with this origin.
  if (text.replace(/\/$/, '') !== url.origin)
    return 'must be in the form browsers send: lower case, no default port';
};

/** An origin that people enter by its own name; `*` may stand for the first label of the name. */
export const namedOriginRule: TextRule = (text) => {
  const isWild = /^https?:\/\/\*\.[^*]+$/.test(text);
  if (text.includes('*') && !isWild)
    return 'can have * for the whole first label alone, such as https://*.preview.example.com';
  const problem = originRule(isWild ? text.replace('*', 'a') : text);
  if (problem !== undefined) return problem;
  if (text.endsWith('/')) return 'must not have a slash at its end';
  if (/\.(?::\d+)?$/.test(text)) return 'must not have a dot at the end of its name';
  if (/\/\.|\.\./.test(text)) return 'must not have an empty label in its name';
  if (!hasValidPort(text)) return 'must have a port from 1 to 65535';
};

/** An origin whose pages may send requests, exactly as browsers send it (RFC 6454 §6.2). */
export const corsOriginRule: TextRule = (text) => {
  const isExact = /^https?:/.test(text) ? URL.parse(text)?.origin === text : true;
  // The pattern excludes `*`, which URL accepts as a host name.
  return isExact && originPattern.test(text)
    ? undefined
    : 'must be an exact origin such as https://app.example.com';
};

/** An http or https URL without userinfo or fragment; `query` says whether a query is allowed. */
export function webUrlRule({ query }: { query: boolean }): TextRule {
  const rule = `must be an http:// or https:// URL without user${query ? '' : ', query'} and fragment`;
  return (text) => {
    const url = URL.parse(text);
    const good =
      url && /^https?:\/\/[^/\s]/i.test(text) && !url.username && !url.password && !/[#\s\\]/.test(text);
    return good && (query || !text.includes('?')) ? undefined : rule;
  };
}

/** True if a host, IPv6 in brackets or not, can only be this machine (RFC 6761 §6.3, RFC 1122 §3.2.1.3). */
export function isLoopbackHost(hostname: string): boolean {
  return /^(?:(?:.+\.)?localhost|127\.\d+\.\d+\.\d+|::1|\[::1\])$/.test(hostname);
}

/** The issuer of an identity provider: over plain http, anyone on the network path could replace its keys. */
export const issuerRule: TextRule = (text) => {
  const problem = webUrlRule({ query: false })(text);
  if (problem !== undefined) return problem;
  const { protocol, hostname } = new URL(text);
  return protocol === 'https:' || isLoopbackHost(hostname)
    ? undefined
    : 'must be https:// unless on loopback';
};

/** An IP address, or a block of them in CIDR form. */
export const ipOrCidrRule: TextRule = (text) => {
  const [address = '', prefix, ...rest] = text.split('/');
  const bits = ipaddr.IPv4.isValidFourPartDecimal(address)
    ? 32
    : !address.includes('%') && ipaddr.IPv6.isValid(address)
      ? 128
      : -1;
  const good =
    bits > 0 &&
    rest.length === 0 &&
    (prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits));
  return good ? undefined : 'must be an IP address or a CIDR block';
};

/** The host of a listener: an IP address without brackets, or a name (RFC 1123 §2.1); the port has its own key. */
export const listenHostRule: TextRule = (text) => {
  const isName =
    /^(?=.{1,253}$)(?!.*\.\d+$)(?!\d+$)(?:[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?(?:\.|$))+$/;
  const bare = text.replace(/%[A-Za-z0-9._-]+$/, '');
  const isAddress =
    ipaddr.IPv4.isValidFourPartDecimal(text) || (text.includes(':') && ipaddr.IPv6.isValid(bare));
  return isAddress || isName.test(text)
    ? undefined
    : 'must be an IP address or a host name, without brackets and port';
};
const hostHeaderPattern = new RegExp(`^${hostPattern}$`);

/** A `Host` header value: a name or address, optionally with a port. */
export const hostHeaderRule: TextRule = (text) =>
  hostHeaderPattern.test(text) && hasValidPort(text) ? undefined : 'must be HOST or HOST:PORT';
