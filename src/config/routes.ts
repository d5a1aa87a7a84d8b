import { z } from 'zod';
import { size, timeOut } from './durations-and-sizes.ts';
import { withoutTrailingSlash } from './route-path.ts';
import { matching, text } from './scalars.ts';
import { scopeList } from './scope-names.ts';

// What Node's parser knows, without TRACE and CONNECT, which are 405 everywhere. A list, for a misspelt method would
// leave the true one to the laxer entry.
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
  .describe('Kinds of credential that pass, others are 403: session, api_key or a list of them.');

const scopes = z
  .union(
    [
      scopeList(),
      z
        .partialRecord(z.enum(['read', 'write', ...methods]), scopeList())
        .refine((map) => Object.keys(map).length > 0, {
          error: 'must have an entry, or every method is 405',
        }),
    ],
    { error: 'must be a list of scopes, or a map of read, write and methods to such lists' },
  )
  .prefault([])
  .describe(
    'Scopes needed, all of them: a list for every method, or a map by read, write and method names; a method without entry is 405. GET’s covers HEAD.',
  );

const path = () => text().transform(withoutTrailingSlash).optional();

// RFC 9110 §7.8. h2c lets requests past the gateway unseen; TLS hides them from it.
const upgrade = matching(
  /^(?!(?:[hH]2[cC]?|[hH][tT]{2}[pP]|[tT][lL][sS])(?:\/|$))[!#$%&'*+\-.^_`|~0-9A-Za-z]+(?:\/[!#$%&'*+\-.^_`|~0-9A-Za-z]+)?$/,
  'must be the name of a protocol other than HTTP, h2c and TLS',
).transform((name) => name.toLowerCase());

const route = z.strictObject({
  prefix: path().describe('Path that begins the paths of this route, whole segments; this or exact.'),
  exact: path().describe('The one path of this route, with or without a trailing slash; this or prefix.'),
  upstream: text().describe('Name of the upstream that answers.'),
  scopes,
  accept,
  public: z
    .boolean()
    .default(false)
    .describe('Let requests without credentials pass; not with scopes or accept.'),
  preflight: z
    .literal('upstream', { error: 'must be upstream' })
    .optional()
    .describe(
      'upstream: it answers CORS itself; preflights pass without credentials and query. Not with cors.origins. Left out: a preflight is a request like any other.',
    ),
  max_body: size({ min: 0 })
    .optional()
    .describe('Size of a request body, beyond it 413; left out: no bound.'),
  body_rate: size({ min: 0 })
    .optional()
    .describe('In place of limits.body_rate; 0 for a route whose clients stream.'),
  upgrades: z
    .array(upgrade)
    .prefault([])
    .describe('Protocols that a request may upgrade to besides websocket; never h2c or TLS.'),
  connect_timeout: timeOut().optional().describe('In place of the upstream’s connect_timeout.'),
  response_timeout: timeOut().optional().describe('In place of the upstream’s response_timeout.'),
  idle_timeout: timeOut().optional().describe('In place of the upstream’s idle_timeout.'),
});

/** `routes`: which path goes to which upstream, and who may. In the output paths have no trailing slash (but `/`). */
export const routes = z
  .array(route)
  .min(1, 'must have a route')
  .describe('Which path goes to which upstream, and who may; a path without route is 404.');
