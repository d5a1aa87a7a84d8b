import type { Exchange } from '../http/exchange.ts';
import type { RequestHead } from '../http/request-head.ts';
import { isReturnTo } from '../rules/return-to.ts';
import type { WebArea } from './area.ts';
import { admits, consoleAt } from './console.ts';

/** The only `return_to` of a query; null if it is absent or repeated. */
export function onlyReturnTo(query: string): string | null {
  const [first, ...others] = new URLSearchParams(query).getAll('return_to');
  return first === undefined || others.length > 0 ? null : first;
}

/** An allowed location as a browser reads it: without dot segments, in ASCII; null if that is another origin's URL. */
export function browserLocation(
  returnTo: string,
): { readonly pathname: string; readonly whole: string } | null {
  const { pathname, search, hash } = new URL(returnTo, anyOrigin);
  return pathname.startsWith('//') ? null : { pathname, whole: pathname + search + hash };
}

const anyOrigin = 'https://a.example';

/** Destination of a sign-in: `returnTo`, or home if that leaves this origin, or is one of Postern's own paths but not a page. */
export function destination(
  { homeAt, isPagePath, mayBeOwnPath }: Pick<WebArea, 'homeAt' | 'isPagePath' | 'mayBeOwnPath'>,
  host: string,
  returnTo: string | null,
): string {
  const home = homeAt(host);
  if (returnTo === null || !isReturnTo(returnTo)) return home;
  const read = browserLocation(returnTo);
  if (read === null) return home;
  return isPagePath(read.pathname) || !mayBeOwnPath(read.pathname) ? read.whole : home;
}

/**
 * The {@link destination} of a sign-in by `method`; if it is in the console and the method may not lead there, home; if that is
 * in the console as well, the area's first page.
 */
export function destinationOf(
  area: WebArea,
  exchange: Exchange,
  returnTo: string | null,
  method: string,
): string {
  const { host } = exchange;
  const mayGo = (location: string) => {
    const console = consoleAt(area.console, exchange, location);
    return console === null || admits(console, method);
  };
  return [destination(area, host, returnTo), area.homeAt(host)].find(mayGo) ?? `${area.path}/`;
}

/**
 * The address, at `path` of a page that signs people in, that leads back to `target` or, if that is no allowed `return_to`, to
 * `targetPath`.
 */
export function signInPath(path: string, target: string, targetPath: string): string {
  const returnTo = [target, targetPath].find(isReturnTo);
  return returnTo === undefined ? path : `${path}?return_to=${encodeURIComponent(returnTo)}`;
}

/**
 * Path and query of the page whose form was sent, by `Referer` (RFC 9110 §10.1.3), to lead people back; null if the page is
 * unknown, of another origin, or no allowed `return_to`.
 */
export function formPageOf(head: RequestHead, { isOwnOrigin }: Pick<WebArea, 'isOwnOrigin'>): string | null {
  const url = refererOf(head);
  if (url === null || !isOwnOrigin(url.origin)) return null;
  const page = url.pathname + url.search;
  return isReturnTo(page) ? page : null;
}

/** URL of the page that a request comes from, by its only `Referer`; null if unknown. */
export function refererOf({ raw }: Pick<RequestHead, 'raw'>): URL | null {
  const values = raw.filter((_, index) => index % 2 === 1 && raw[index - 1]!.toLowerCase() === 'referer');
  return values.length === 1 ? URL.parse(values[0]!) : null;
}
