/**
 * The name in an origin, where `*` may stand for its first label: without scheme, port and a dot at its end. Cookies know no more
 * of a host (RFC 6265 §8.5).
 */
export function nameOfOrigin(origin: string): string {
  return origin.replace(/^https?:\/\//, '').replace(/\.?(?::\d+)?$/, '');
}

/** The port of an origin, in whose name `*` may stand for the first label: that of its scheme if it has none. */
export function portOfOrigin(origin: string): number {
  const { port, protocol } = new URL(origin.replace('*', 'any'));
  return Number(port || (protocol === 'https:' ? 443 : 80));
}
