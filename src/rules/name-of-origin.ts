/**
 * The name in an origin, where `*` may stand for its first label: without scheme, port and a dot at its end. Cookies know no more
 * of a host (RFC 6265 §8.5).
 */
export function nameOfOrigin(origin: string): string {
  return origin.replace(/^https?:\/\//, '').replace(/\.?(?::\d+)?$/, '');
}
