/** Names of request headers that mean something to Postern or to servers behind it, all normalised. */

/** A header name as seen by servers that fold names (CGI, WSGI): lower case, every byte but letters and digits as `-`. */
export function normalisedName(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '-');
}

const framing = ['host', 'content-length', 'transfer-encoding', 'connection', 'expect', 'upgrade'] as const;

/** Headers that Postern reads, sets or uses for framing. */
export const judgedNames = [
  ...framing,
  'authorization',
  'x-api-key',
  'cookie',
  'x-request-id',
  'x-forwarded-for',
  'x-forwarded-proto',
  'x-forwarded-host',
  'traceparent',
  'tracestate',
  'postern-via',
  'origin',
  'content-type',
  'sec-fetch-site',
  'sec-fetch-mode',
  'sec-fetch-dest',
  'sec-purpose',
  'accept',
  'service-worker',
  'access-control-request-method',
  'user-agent',
  'sec-websocket-protocol',
] as const;

/** An element of {@link judgedNames}. */
export type JudgedName = (typeof judgedNames)[number];

/** Headers with credentials, which Postern judges, but a service may want one of its own. */
export const credentialNames: ReadonlySet<string> = new Set(['authorization', 'x-api-key']);

/** Headers that Postern sets on every request: dropping them would change nothing. */
export const framingNames: ReadonlySet<string> = new Set(framing);

/** Hop-by-hop headers of a request, which belong to one connection alone (RFC 9110 §7.6.1). */
export const hopByHopNames: ReadonlySet<string> = new Set([
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'proxy-authenticate',
  'proxy-authorization',
  'http2-settings',
]);

/** Hop-by-hop headers that gRPC needs, which another proxy may forward. */
export const trailerNames: ReadonlySet<string> = new Set(['te', 'trailer']);

/** Headers from which servers take the sender of a request. */
const senderNames = ['proxy', 'forwarded', 'x-real-ip', 'remote-addr'] as const;

/**
 * Headers from which servers take the mount point or the target, and then serve a path other than the one that was checked:
 * gunicorn accepts the first two from its proxy, Daphne the third from anyone.
 */
const targetNames = [
  'script-name',
  'path-info',
  'daphne-root-path',
  'x-script-name',
  'x-original-url',
  'x-original-uri',
  'x-original-method',
  'x-original-host',
  'x-rewrite-url',
] as const;

/** Normalised names of the headers that say below which path a service is mounted, or which target was meant. */
export const mountPointNames: ReadonlySet<string> = new Set([...targetNames, 'x-forwarded-prefix']);

/** Headers from which servers take the user whom a proxy in front has signed in. */
const userNames = ['remote-user', 'x-remote-user'] as const;

/** Headers of a client's request that never reach an upstream. */
export const droppedNames: ReadonlySet<string> = new Set([
  ...hopByHopNames,
  ...senderNames,
  ...targetNames,
  ...userNames,
]);

/** Identity headers that a later version may send; like all with their prefix, they are dropped from clients' requests. */
export const laterNames = [
  'X-Auth-Client-Id',
  'X-Auth-Issuer',
  'X-Auth-Delegated',
  'X-Auth-Assurance',
] as const;

/** The prefix of identity headers, which applications use for headers of their own, too. */
export const identityPrefix = 'x-auth-';

/**
 * Names with the prefix of identity headers that Postern sends to services or answers to proxies, or that a later version may, in
 * lower case.
 */
export const ownIdentityNames: ReadonlySet<string> = new Set([
  ...['subject', 'username', 'method', 'scopes', 'session-id', 'key-id', 'tenant', 'assertion', 'code'].map(
    (name) => identityPrefix + name,
  ),
  ...['location', 'key-ends'].map((name) => identityPrefix + name),
  ...laterNames.map((name) => name.toLowerCase()),
]);

/** Prefixes of headers that never reach an upstream, unless an application has one of the first as its own. */
export const droppedPrefixes = [identityPrefix, 'x-forwarded-'] as const;

/**
 * Prefix of the headers by which MCP clients repeat the parameters of a call (Model Context Protocol, Streamable HTTP), followed
 * by a tool's own name in any characters of a token.
 */
export const toolParameterPrefix = 'mcp-param-';

/** Headers from which frameworks take the method, bypassing a route's scopes by method. */
export const methodOverrideNames: ReadonlySet<string> = new Set([
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
]);

/** Headers dropped from clients' requests, but allowed as names of an upstream's `identity_headers` and `headers`. */
const identityNames: ReadonlySet<string> = new Set([
  ...userNames,
  'x-forwarded-user',
  'x-forwarded-email',
  'x-forwarded-groups',
  'x-forwarded-preferred-username',
]);

const judged: ReadonlySet<string> = new Set(judgedNames);

/** True if Postern itself reads, sets or drops the header of that name, so that an upstream can't have one of its own. */
export function isReservedName(name: string): boolean {
  const normalised = normalisedName(name);
  if (identityNames.has(normalised)) return false;
  return (
    judged.has(normalised) ||
    droppedNames.has(normalised) ||
    methodOverrideNames.has(normalised) ||
    droppedPrefixes.some((prefix) => normalised.startsWith(prefix))
  );
}
