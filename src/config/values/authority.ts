/** A server: a name, or an IP address without brackets. */
export interface HostAndPort {
  readonly host: string;
  readonly port: number;
}

/** Matches a name or address (IPv6 in brackets), optionally with a port, which {@link hasValidPort} checks (RFC 3986 §3.2). */
export const hostPattern = String.raw`(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?`;

/** Matches an optional `USER:PASSWORD@`; the first group is what precedes the `@`. */
export const userinfoPattern = String.raw`(?:([^@/\s]*)@)?`;

/** True if the port after a host, if there is one, is in range (1-65535). */
export function hasValidPort(host: string): boolean {
  const port = /:(\d+)$/.exec(host)?.[1];
  return port === undefined || (Number(port) >= 1 && Number(port) <= 65_535);
}

/** Splits a text that {@link hostPattern} matches into host and port. */
export function parseHost(text: string, defaultPort: number): HostAndPort {
  const [, ipv6, name = '', port = defaultPort] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d+))?$/.exec(text) ?? [];
  return { host: ipv6 ?? name, port: Number(port) };
}

/**
 * Splits `USER:PASSWORD` and percent-decodes both; an omitted password is undefined. Throws a RangeError whose message
 * is the broken rule if either is not percent-encoded UTF-8.
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
