import type { Assert } from '../credentials/assertion.ts';
import type { Principal } from '../credentials/principal.ts';
import { type OwnCookies, separatedCookies, withoutCookies } from '../http/cookies.ts';
import type { Exchange } from '../http/exchange.ts';
import type { Reply } from '../http/reply.ts';
import type { RequestHead } from '../http/request-head.ts';
import { FieldBlock } from '../http1/message/head-text.ts';
import { assertionHeader } from '../proxy/request-headers.ts';
import type { Route } from '../proxy/route-table.ts';
import { type Mode, removalHeader } from './modes.ts';
import type { ReceivedHeaders } from './received-headers.ts';

/** The identity headers of Postern's own, and the proof of them. */
const ownNames = [
  'X-Auth-Subject',
  'X-Auth-Username',
  'X-Auth-Method',
  'X-Auth-Scopes',
  'X-Auth-Session-Id',
  'X-Auth-Key-Id',
  'X-Auth-Tenant',
  assertionHeader,
] as const;

/** Every name by which an answer identifies the caller; `upstreamNames` are those of `identity_headers`. */
export function answeredNames(upstreamNames: readonly string[]): readonly string[] {
  const others = new Map(upstreamNames.map((name) => [name.toLowerCase(), name]));
  return [...ownNames, ...others.values()];
}

/** Makes the answer to a request that may pass; to a preflight, which has no credentials, it has no cookies either. */
export type AllowedReply = (
  request: DecidedRequest,
  route: Route,
  principal: Principal | null,
  asPreflight: boolean,
) => Reply;

/** The parts of a request that its answer depends on. */
export type DecidedRequest = Pick<Exchange, 'head' | 'method' | 'target' | 'id'>;

/** How answers are made. */
export interface AnswerOptions {
  readonly mode: Mode;
  /** As from {@link answeredNames}. */
  readonly names: readonly string[];
  readonly received: ReceivedHeaders;
  /** Postern's own cookies, which nothing behind the proxy may see. */
  readonly ownCookies: OwnCookies;
  /** True if the services behind the proxy may see other cookies. */
  readonly passesCookies: boolean;
  /** Signs the proof of the answer for the service; null: there is none. */
  readonly assert: Assert | null;
}

/**
 * Creates the answers that tell a proxy who calls, with `Cookie` without Postern's own cookies. They have every name every time,
 * with an empty value if there is none, so that a proxy that copies them overwrites the client's headers; a proxy that can
 * remove headers is told their names instead.
 */
export function createAllowedReply(options: AnswerOptions): AllowedReply {
  const { mode, assert } = options;
  // A signed assertion differs with every request.
  const names = options.names.filter((name) => assert === null || name !== assertionHeader);
  const anonymous = complete(names, []);
  const known = new WeakMap<readonly string[], Completed>();

  /** Computed once per principal and upstream, as the identity headers are. */
  function completedOf(route: Route, principal: Principal | null): Completed {
    if (principal === null) return anonymous;
    const identity = route.identityHeadersOf(principal).fields;
    let completed = known.get(identity);
    if (completed === undefined) {
      completed = complete(names, identity);
      known.set(identity, completed);
    }
    return completed;
  }

  function assertionOf({ method, target, id }: DecidedRequest, principal: Principal | null): string {
    return assert === null ? '' : assert(method, target, id, principal);
  }

  function cookieOf({ cookie }: RequestHead, asPreflight: boolean): string {
    return asPreflight || !options.passesCookies ? '' : cleanedCookie(cookie, options);
  }

  if (mode.removesHeaders)
    return (request, route, principal, asPreflight) => ({
      status: 200,
      headers: withRemovals(
        completedOf(route, principal),
        assertionOf(request, principal),
        cookieOf(request.head, asPreflight),
        request.head,
        options,
      ),
    });
  return (request, route, principal, asPreflight) => {
    const { reply } = completedOf(route, principal);
    const cookie = cookieOf(request.head, asPreflight);
    const headers =
      assert === null
        ? ['Cookie', cookie]
        : ['Cookie', cookie, assertionHeader, assertionOf(request, principal)];
    return { ...reply, headers };
  };
}

/** The client's cookies without Postern's own; a proxy may have joined lines with commas, so one may follow each comma. */
function cleanedCookie(cookie: string, { mode, ownCookies }: AnswerOptions): string {
  if (cookie === '') return '';
  return withoutCookies(mode.joinsCookies ? separatedCookies(cookie, ownCookies) : cookie, ownCookies);
}

/** The identity headers of one caller, for both kinds of proxy. */
interface Completed {
  /** With every name, its value empty where there is none. */
  readonly reply: Reply;
  readonly present: readonly string[];
  /** In lower case. */
  readonly absent: readonly string[];
}

function complete(names: readonly string[], identity: readonly string[]): Completed {
  const values = new Map<string, string>();
  for (let i = 0; i < identity.length; i += 2) values.set(identity[i]!.toLowerCase(), identity[i + 1]!);
  const lower = names.map((name) => name.toLowerCase());
  const all = names.flatMap((name, index) => [name, values.get(lower[index]!) ?? '']);
  return {
    reply: { status: 200, block: new FieldBlock(all) },
    present: identity,
    absent: lower.filter((name) => !values.has(name)),
  };
}

/** Credentials that Postern has judged and nothing else needs. */
const credentials = ['authorization', 'x-api-key'] as const;

function withRemovals(
  { present, absent }: Completed,
  assertion: string,
  cookie: string,
  head: RequestHead,
  { received }: AnswerOptions,
): readonly string[] {
  const aliases = received.aliasesIn(head.raw).map((name) => name.toLowerCase());
  const removed = new Set([...absent, ...credentials, ...aliases]);
  const fields = [...present];
  if (assertion !== '') fields.push(assertionHeader, assertion);
  if (cookie !== head.cookie) {
    if (cookie === '') removed.add('cookie');
    else fields.push('Cookie', cookie);
  }
  fields.push(removalHeader, [...removed].join(','));
  return fields;
}
