import type { Assert } from '../credentials/assertion.ts';
import type { Principal } from '../credentials/principal.ts';
import { Refusal } from '../errors.ts';
import { type OwnCookies, separatedCookies, withoutCookies } from '../http/cookies.ts';
import type { Exchange } from '../http/exchange.ts';
import { removedHeaders } from '../http/removed-headers.ts';
import type { Replies, Reply } from '../http/reply.ts';
import type { RequestHead } from '../http/request-head.ts';
import { offersOwnToken } from '../http/websocket-protocols.ts';
import { FieldBlock } from '../http1/message/head-text.ts';
import { assertionHeader } from '../proxy/request-headers.ts';
import type { Route } from '../proxy/route-table.ts';
import { type Mode, removalHeader } from './modes.ts';
import type { AliasesIn } from './received-headers.ts';

/** Postern's own identity headers, and the header of the assertion. */
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

/** Names of all headers that identify the caller in an answer; `upstreamNames`: those from `identity_headers`. */
export function answeredNames(upstreamNames: readonly string[]): readonly string[] {
  const others = new Map(upstreamNames.map((name) => [name.toLowerCase(), name]));
  return [...ownNames, ...others.values()];
}

/** Answers of a listener to the proxies that ask there. */
export interface Decision {
  /** Refuses headers that the proxy would forward although the gateway would not. Throws `bad_request`. */
  assertPassable(exchange: Exchange): void;
  /** Refuses a credential that may be two joined by a comma. Throws `ambiguous_credentials`. */
  assertOneCredential(head: RequestHead): void;
  /** Answers that the request may pass; `principal` null: without an identity; `asPreflight`: without cookies. */
  allow(exchange: Exchange, route: Route, principal: Principal | null, asPreflight: boolean): void;
  refuse(exchange: Exchange, error: unknown): void;
}

interface DecisionOptions {
  readonly mode: Mode;
  /** True for `client_headers: pass`. */
  readonly passesAliases: boolean;
  readonly aliasesIn: AliasesIn;
  readonly names: readonly string[];
  /** Postern's own cookies, which nothing behind the proxy may see. */
  readonly ownCookies: OwnCookies;
  /** True if the services behind the proxy may see other cookies. */
  readonly passesCookies: boolean;
  /** True if a route passes an `Authorization` of its application: each answer then has it and `X-API-Key`. */
  readonly answersCredentials: boolean;
  /** Signs the assertion for the service; null: no assertion is sent. */
  readonly assert: Assert | null;
  readonly replies: Replies;
}

const none: readonly string[] = [];

/** Creates the answers of a listener. They set and clear no cookie: what a proxy hands on of an answer is its own business. */
export function createDecision(options: DecisionOptions): Decision {
  const { mode, passesAliases, aliasesIn, replies } = options;
  const judgesAliases = !mode.removesHeaders && !passesAliases;
  const allowedReply = createAllowedReply(options);
  return {
    assertPassable({ head }) {
      // The proxy would forward the token, and the upstream, which chooses among the protocols, would not know it.
      if (offersOwnToken(head.webSocketProtocols))
        throw new Refusal('bad_request', { reason: 'token as a subprotocol' });
      if (judgesAliases && aliasesIn(head.raw).length > 0)
        throw new Refusal('bad_request', { reason: 'header that the proxy would pass on' });
    },
    assertOneCredential({ authorization, apiKey }) {
      if (mode.joinsCredentials && (authorization.includes(',') || apiKey.includes(',')))
        throw new Refusal('ambiguous_credentials');
    },
    allow(exchange, route, principal, asPreflight) {
      exchange.responseFields = none;
      if (mode.removesHeaders && exchange.head.hasDroppable)
        exchange.removed = removedHeaders(aliasesIn(exchange.head.raw));
      replies.send(exchange, allowedReply(exchange, route, principal, asPreflight));
    },
    refuse(exchange, error) {
      exchange.responseFields = none;
      replies.refuse(exchange, error);
    },
  };
}

type AllowedReply = (
  request: Exchange,
  route: Route,
  principal: Principal | null,
  asPreflight: boolean,
) => Reply;

/**
 * Creates the answers to requests that may pass: headers that identify the caller, and `Cookie` without Postern's own cookies.
 * Headers without a value are sent empty, to overwrite the client's; a proxy that can remove headers gets their names instead.
 */
function createAllowedReply(options: DecisionOptions): AllowedReply {
  const { mode, assert } = options;
  // A signed assertion differs with every request.
  const names = options.names.filter((name) => assert === null || name !== assertionHeader);
  const anonymous = complete(names, []);
  const known = new WeakMap<readonly string[], Completed>();

  /** The headers of an answer, computed once per principal and upstream, as the identity headers are. */
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

  function assertionOf({ method, target, id }: Exchange, principal: Principal | null): string {
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
        request,
        options,
      ),
    });
  return (request, route, principal, asPreflight) => {
    const { reply } = completedOf(route, principal);
    const headers = ['Cookie', cookieOf(request.head, asPreflight)];
    if (assert !== null) headers.push(assertionHeader, assertionOf(request, principal));
    if (options.answersCredentials)
      for (const { name, valueIn } of credentials) headers.push(name, valueIn(request) ?? '');
    return { ...reply, headers };
  };
}

/** The client's cookies without Postern's own; if the proxy may have joined lines by commas, each comma may precede a cookie. */
function cleanedCookie(cookie: string, { mode, ownCookies }: DecisionOptions): string {
  if (cookie === '') return '';
  return withoutCookies(mode.joinsCookies ? separatedCookies(cookie, ownCookies) : cookie, ownCookies);
}

/** Identity headers of a caller, for both kinds of proxy. */
interface Completed {
  /** Reply with every identity header; those without a value are sent empty. */
  readonly reply: Reply;
  readonly present: readonly string[];
  /** Names without a value, in lower case. */
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

/** The headers with credentials, each with the value that is the application's own; undefined: it is Postern's, or absent. */
const credentials: readonly {
  readonly name: string;
  readonly valueIn: (request: Exchange) => string | undefined;
}[] = [
  {
    name: 'Authorization',
    valueIn: ({ head, passesAuthorization }) => (passesAuthorization ? head.authorization : undefined),
  },
  { name: 'X-API-Key', valueIn: ({ head, passesApiKey }) => (passesApiKey ? head.apiKey : undefined) },
];

/** Characters that reach a service by an answer as they came, whatever its proxy takes them for. */
const plain = /^[\t -~]*$/;

function withRemovals(
  { present, absent }: Completed,
  assertion: string,
  cookie: string,
  request: Exchange,
  { aliasesIn }: DecisionOptions,
): readonly string[] {
  const { head } = request;
  const aliases = aliasesIn(head.raw).map((name) => name.toLowerCase());
  const removed = new Set([...absent, ...aliases]);
  const fields = [...present];
  for (const { name, valueIn } of credentials) {
    const value = valueIn(request);
    // The client's own stays on the request, as it came.
    if (value === undefined) removed.add(name.toLowerCase());
    else if (value !== '' && plain.test(value)) fields.push(name, value);
  }
  if (assertion !== '') fields.push(assertionHeader, assertion);
  if (cookie !== head.cookie) {
    if (cookie === '') removed.add('cookie');
    else fields.push('Cookie', cookie);
  }
  fields.push(removalHeader, [...removed].join(','));
  return fields;
}
