/** A server: a name, or an IP address without brackets. */
export interface HostAndPort {
  readonly host: string;
  readonly port: number;
}

/** Pattern of a name or address, IPv6 in brackets, and perhaps a port (RFC 3986 §3.2), which is judged by {@link hasValidPort}. */
export const hostPattern = String.raw`(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?`;

/** Pattern of `USER:PASSWORD@`, if any; the first group is what stands before the `@`. */
export const userinfoPattern = String.raw`(?:([^@/\s]*)@)?`;

/** Whether the port that follows a host, if any, is one (1-65535). */
export function hasValidPort(host: string): boolean {
  const port = /:(\d+)$/.exec(host)?.[1];
  return port === undefined || (Number(port) >= 1 && Number(port) <= 65_535);
}

/** Splits what {@link hostPattern} matches. */
export function parseHost(text: string, defaultPort: number): HostAndPort {
  const [, ipv6, name = '', port = defaultPort] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d+))?$/.exec(text) ?? [];
  return { host: ipv6 ?? name, port: Number(port) };
}

/**
 * Splits `USER:PASSWORD` and decodes both; a password that is left out is undefined. Throws a RangeError, whose message is
 * the rule, when either is not percent-encoded UTF-8.
 */
export function parseUserinfo(text = ''): { username: string; password: string | undefined } {
  const colon = text.indexOf(':');
  try {
    return {
      username: decodeURIComponent(colon < 0 ? text : text.slice(0, colon)),
      password: colon < 0 ? undefined : decodeURIComponent(text.slice(colon + 1)),
    };
  } catch {
    throw new RangeError('must have a percent-encoded user and password');
  }
}
