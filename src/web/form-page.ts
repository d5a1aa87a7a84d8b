import type { RequestHead } from '../http/request-head.ts';
import type { WebArea } from './area.ts';
import { isReturnTo } from './return-to.ts';

/**
 * Path and query of the page of this origin whose form was sent, by `Referer` (RFC 9110 §10.1.3), so that people can go
 * back to it; null if it isn't told, or no place to lead to.
 */
export function formPageOf(
  { raw }: RequestHead,
  { isOwnOrigin }: Pick<WebArea, 'isOwnOrigin'>,
): string | null {
  const values = raw.filter((_, index) => index % 2 === 1 && raw[index - 1]!.toLowerCase() === 'referer');
  const url = values.length === 1 ? URL.parse(values[0]!) : null;
  if (url === null || !isOwnOrigin(url.origin)) return null;
  const page = url.pathname + url.search;
  return isReturnTo(page) ? page : null;
}
