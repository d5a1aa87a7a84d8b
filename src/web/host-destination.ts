import { Refusal } from '../errors.ts';
import type { Exchange } from '../http/exchange.ts';
import { isFollowedLink } from '../http/foreign-page.ts';
import type { NamedHost } from '../http/named-hosts.ts';
import { isNavigation } from '../http/navigation.ts';
import { assertNoPrefetch } from '../http/prefetch.ts';
import type { SignInStart } from '../identity-providers/sign-in-start.ts';
import { isReturnTo } from '../rules/return-to.ts';
import type { WebArea } from './area.ts';
import { isStartHash } from './host-starts.ts';
import { browserLocation, destinationOf } from './return-to.ts';

/** Destination of a sign-in at a named host. */
export interface HostDestination {
  readonly host: NamedHost;
  /** Path, query and fragment there, as {@link isHostPath} allows them. */
  readonly path: string;
  /** Hash of the start cookie that the browser has at that host. */
  readonly start: string;
  /** True if an earlier code found no start cookie there. */
  readonly isAgain: boolean;
}

/** Destination of a sign-in, as a request asks for it: a location of this origin, a host, or none (null). */
export type ReturnTo = string | HostDestination | null;

/** Parameters of a sign-in that name its destination, in an address or a form; null: the parameter is absent. */
export interface ReturnToFields {
  readonly returnTo: string | null;
  readonly start: string | null;
  readonly again: string | null;
}

/** The relevant settings of the area. */
type Area = Pick<WebArea, 'findByOrigin' | 'isConsoleHost' | 'mayBeHostPage'>;

/** True if a destination is at a named host. */
export function isAtHost(returnTo: ReturnTo): returnTo is HostDestination {
  return typeof returnTo === 'object' && returnTo !== null;
}

/** The destination in a query; null if it is absent or not allowed, or a parameter is repeated. */
export function returnToOf(area: Area, { host, query }: Pick<Exchange, 'host' | 'query'>): ReturnTo {
  const parameters = new URLSearchParams(query);
  const names = ['return_to', 'start', 'again'] as const;
  const [returnTo, start, again] = names.map((name) => parameters.getAll(name));
  if (returnTo!.length > 1) return null;
  // What is repeated says nothing.
  const only = (values: readonly string[] = []) => (values.length === 1 ? values[0]! : null);
  return readReturnTo(area, host, { returnTo: only(returnTo), start: only(start), again: only(again) });
}

/** The destination that parameters name, at the host that was called; null if it is not allowed. */
export function readReturnTo(area: Area, calledHost: string, fields: ReturnToFields): ReturnTo {
  const { returnTo } = fields;
  if (returnTo === null) return null;
  return isReturnTo(returnTo) ? returnTo : readHostDestination(area, calledHost, fields);
}

/** Matches an origin and a location there, with nothing between them: no user, and no other spelling of either. */
const address = /^(https?:\/\/[^/?#\\@]+)(\/.*)$/s;

/** The destination at a named host that parameters name; null if they name none. The console's own host leads to none. */
function readHostDestination(
  area: Area,
  calledHost: string,
  { returnTo, start, again }: ReturnToFields,
): HostDestination | null {
  if (area.findByOrigin === null || area.isConsoleHost(calledHost)) return null;
  const [, origin = '', path = ''] = address.exec(returnTo ?? '') ?? [];
  if (start === null || !isStartHash(start) || !isHostPath(area, path)) return null;
  const host = area.findByOrigin(origin);
  return host === null ? null : { host, path, start, isAgain: again === '1' };
}

/** True if a sign-in may lead to a location at a named host: none of Postern's own there, however it is spelled. */
export function isHostPath({ mayBeHostPage }: Pick<WebArea, 'mayBeHostPage'>, path: string): boolean {
  if (!isReturnTo(path)) return false;
  const read = browserLocation(path);
  return read !== null && !mayBeHostPage(path.split(/[?#]/, 1)[0]!) && !mayBeHostPage(read.pathname);
}

/** The parameters that name a destination, for a form's hidden fields or a query, names and values in turn. */
export function returnToParameters(returnTo: ReturnTo): readonly (readonly [name: string, value: string])[] {
  if (returnTo === null) return [];
  if (!isAtHost(returnTo)) return [['return_to', returnTo]];
  const { host, path, start, isAgain } = returnTo;
  return [
    ['return_to', host.origin + path],
    ['start', start],
    ...(isAgain ? ([['again', '1']] as const) : []),
  ];
}

/** The query, such as `?return_to=…`, that makes a sign-in lead to a destination; empty for null. */
export function returnToQuery(returnTo: ReturnTo): string {
  const pairs = returnToParameters(returnTo).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

/** A destination as the start of a sign-in at a provider keeps it. */
export function startTowards(returnTo: ReturnTo): Pick<SignInStart, 'returnTo' | 'towardsHost'> {
  if (!isAtHost(returnTo)) return { returnTo, towardsHost: null };
  const { host, path, start, isAgain } = returnTo;
  return { returnTo: null, towardsHost: { address: host.origin + path, start, isAgain } };
}

/** The destination of a start; null if it has none, or none that is allowed by now. */
export function returnToOfStart(
  area: Area,
  { host }: Pick<Exchange, 'host'>,
  begun: Pick<SignInStart, 'returnTo' | 'towardsHost'> | null | undefined,
): ReturnTo {
  const { returnTo = null, towardsHost = null } = begun ?? {};
  if (towardsHost === null) return returnTo;
  const { address: text, start, isAgain } = towardsHost;
  return readHostDestination(area, host, { returnTo: text, start, again: isAgain ? '1' : null });
}

/** The destination of a sign-in by `method`, as {@link destinationOf} has it, or at a named host. */
export function leadsTo(
  area: WebArea,
  exchange: Exchange,
  returnTo: ReturnTo,
  method: string,
): string | HostDestination {
  return isAtHost(returnTo) ? returnTo : destinationOf(area, exchange, returnTo, method);
}

/** Name of a destination's host for people, in ASCII, with a port that isn't the scheme's. */
export function shownHost({ host }: HostDestination): string {
  return new URL(host.origin).host;
}

/**
 * Requires a navigation to a page of its own, if a sign-in leads to a named host: a browser that is signed in gets a code for
 * it, which no script, frame or page loaded ahead of time may have. Throws {@link Refusal} `prefetch`, `cross_site`.
 */
export function assertMayLeadTo(
  returnTo: ReturnTo,
  { head, method }: Pick<Exchange, 'head' | 'method'>,
): void {
  if (!isAtHost(returnTo)) return;
  assertNoPrefetch(head);
  const isOpened = method === 'POST' ? isNavigation(head) : method === 'GET' && isFollowedLink(head);
  if (!isOpened) throw new Refusal('cross_site');
}
