import { z } from 'zod';
import { size, timeout } from '../values/durations-and-sizes.ts';
import { withoutTrailingSlash } from '../values/route-path.ts';
import { matching, text } from '../values/scalars.ts';
import { scopeList } from '../values/scope-names.ts';
import { pathsOfRoute } from './paths.ts';

// The methods Node's parser knows, without TRACE and CONNECT, which are 405 everywhere. The list is closed, because a
// misspelt method would leave the intended one to the laxer entry.
const methods = [
  'GET',
  'HEAD',
  'OPTIONS',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'QUERY',
  'ACL',
  'BIND',
  'CHECKOUT',
  'COPY',
  'LINK',
  'LOCK',
  'M-SEARCH',
  'MERGE',
  'MKACTIVITY',
  'MKCALENDAR',
  'MKCOL',
  'MOVE',
  'NOTIFY',
  'PROPFIND',
  'PROPPATCH',
  'PURGE',
  'REBIND',
  'REPORT',
  'SEARCH',
  'SOURCE',
  'SUBSCRIBE',
  'UNBIND',
  'UNLINK',
  'UNLOCK',
  'UNSUBSCRIBE',
] as const;

const credential = z.enum(['session', 'api_key']);

const accept = z
  .union([credential, z.array(credential).min(1, 'must not be empty')], {
    error: 'must be session, api_key or a list of them',
  })
  .transform((value) => (typeof value === 'string' ? [value] : [...new Set(value)]))
  .prefault(['session', 'api_key'])
  .describe('Kinds of credential that are accepted, others are 403: session, api_key or a list of them.');

const scopes = z
  .union(
    [
      scopeList(),
      z
        .partialRecord(z.enum(['read', 'write', ...methods]), scopeList())
        .refine((map) => Object.keys(map).length > 0, {
          error: 'must not be empty: every method would be 405',
          params: { isEmptiness: true },
        }),
    ],
    { error: 'must be a list of scopes, or a map of read, write and methods to such lists' },
  )
  .prefault([])
  .describe(
    'Scopes required, all of them: a list for every method, or a map by read, write and method names; a method without an entry is 405. GET’s entry covers HEAD.',
  );

const path = () => text().transform(withoutTrailingSlash).optional();

// RFC 9110 §7.8. h2c would carry requests past the gateway, and TLS would hide them from it.
const upgrade = matching(
  /^(?!(?:[hH]2[cC]?|[hH][tT]{2}[pP]|[tT][lL][sS])(?:\/|$))[!#$%&'*+\-.^_`|~0-9A-Za-z]+(?:\/[!#$%&'*+\-.^_`|~0-9A-Za-z]+)?$/,
  'must be the name of a protocol other than HTTP, h2c and TLS',
).transform((name) => name.toLowerCase());

const route = z.strictObject({
  prefix: path().describe('Path prefix of this route, in whole segments; either this or exact.'),
  exact: path().describe(
    'The only path of this route, with or without a trailing slash; either this or prefix.',
  ),
  host: text()
    .optional()
    .describe(
      'Name in an entry of hosts, such as wiki.example.com or *.preview.example.com: the route is that host’s alone. If omitted, the route is of every host that no entry names.',
    ),
  upstream: text().describe(
    'Name of the upstream that requests are forwarded to; none: requests are only decided about, by forward_auth, and 404 on the public listener.',
  ),
  scopes,
  accept,
  public: z
    .boolean()
    .default(false)
    .describe('Let requests without credentials pass; can’t be combined with scopes or accept.'),
  browser: z
    .boolean()
    .default(false)
    .describe(
      'Also accept the cookie of the sign-in page, and lead browsers without a session there; needs web, and session in accept.',
    ),
  authorization: z
    .literal('pass', { error: 'must be pass' })
    .optional()
    .describe(
      'pass: an Authorization or X-API-Key that holds no credential of this tenant is the application’s own, and forwarded as it came. If omitted, both are Postern’s: anything else in them is refused, and neither is forwarded.',
    ),
  challenge: z
    .enum(['bearer', 'basic', 'both'])
    .prefault('bearer')
    .describe(
      'Schemes that a 401 names to programs; basic and both need api_keys.basic. Browsers are always told Bearer, because for Basic they would ask for a password.',
    ),
  preflight: z
    .literal('upstream', { error: 'must be upstream' })
    .optional()
    .describe(
      'upstream: the upstream handles CORS itself; preflights pass without credentials and query. Can’t be combined with cors.origins. If omitted, a preflight is a request like any other.',
    ),
  cors: z
    .literal('upstream', { error: 'must be upstream' })
    .optional()
    .describe(
      'upstream: CORS of this route is the upstream’s own, its preflights included, whatever cors.origins says. Can’t be combined with preflight.',
    ),
  paths: pathsOfRoute,
  strip_prefix: path().describe(
    'First segments of the route’s path, or all of it, that are removed before forwarding and sent as X-Forwarded-Prefix; if omitted, the path is forwarded as it is.',
  ),
  max_body: size({ min: 0 })
    .optional()
    .describe('Maximum size of a request body, beyond it 413; if omitted, no limit.'),
  body_rate: size({ min: 0 })
    .optional()
    .describe('Overrides limits.body_rate; 0 for a route whose clients stream.'),
  upgrades: z
    .array(upgrade)
    .prefault([])
    .describe('Protocols that a request may upgrade to in addition to websocket; never h2c or TLS.'),
  connect_timeout: timeout().optional().describe('Overrides the upstream’s connect_timeout.'),
  response_timeout: timeout().optional().describe('Overrides the upstream’s response_timeout.'),
  idle_timeout: timeout().optional().describe('Overrides the upstream’s idle_timeout.'),
});

/** The value of `upstream` for a route without an upstream. */
export const noUpstream = 'none';

/** `routes`: the upstream of each path, and who may use it. Parsed paths have no trailing slash, except `/`. */
export const routes = z
  .array(route)
  .min(1, 'must have at least one route')
  .describe('Routes: the upstream of each path, and who may use it; a path without a route is 404.');
