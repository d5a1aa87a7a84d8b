import type { RequestHead } from '../http/request-head.ts';
import type { WebArea } from './area.ts';
import { isReturnTo } from './return-to.ts';

/**
 * Path and query of the page of this origin whose form was sent, by `Referer` (RFC 9110 §10.1.3), so that people can go
 * back to it; null if it isn't told, or no place to lead to.
 */
export function formPageOf(head: RequestHead, { isOwnOrigin }: Pick<WebArea, 'isOwnOrigin'>): string | null {
  const url = refererOf(head);
  if (url === null || !isOwnOrigin(url.origin)) return null;
  const page = url.pathname + url.search;
  return isReturnTo(page) ? page : null;
}

/** The address of the page that a request comes from, by its only `Referer`; null if it isn't told. */
export function refererOf({ raw }: Pick<RequestHead, 'raw'>): URL | null {
  const values = raw.filter((_, index) => index % 2 === 1 && raw[index - 1]!.toLowerCase() === 'referer');
  return values.length === 1 ? URL.parse(values[0]!) : null;
}
