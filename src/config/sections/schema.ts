import { z } from 'zod';
import { framingNames, identityPrefix, normalisedName, ownIdentityNames } from '../../rules/known-headers.ts';
import { defaultApiPath } from '../../rules/own-areas.ts';
import { corsOriginRule, ipOrCidrRule, namedOriginRule, originRule } from '../values/addresses.ts';
import { areaPathRule } from '../values/area-path.ts';
import { duration } from '../values/durations-and-sizes.ts';
import { matching, type TextRule, text, whole } from '../values/scalars.ts';
import { scopes } from '../values/scope-names.ts';
import { apiKeys, bootstrap, passwords, sessions, signingKeys, tokens } from './credentials.ts';
import { forwardAuth } from './forward-auth.ts';
import { identityProviders } from './identity-providers.ts';
import { limits, listen, loginThrottle, management, shutdown, workers } from './listeners.ts';
import { scopeSets, users } from './managed.ts';
import { paths } from './paths.ts';
import { routes } from './routes.ts';
import { stores } from './stores.ts';
import { upstreams } from './upstreams.ts';
import { web } from './web.ts';

const servedBy = z.enum(['own', 'upstream', 'off']);

const endpoints = z
  .strictObject({
    bootstrap: servedBy.prefault('own').describe('Who serves /api/bootstrap.'),
    self: servedBy
      .prefault('upstream')
      .describe('Who serves /api/self, and all below that is not named here.'),
    self_sessions: servedBy.prefault('own').describe('Who serves /api/self/sessions.'),
    self_password: servedBy.prefault('own').describe('Who serves /api/self/password.'),
    admin_sessions: servedBy.prefault('own').describe('Who serves /api/admin/sessions.'),
    scope_sets: servedBy.prefault('own').describe('Who serves /api/admin/scope-sets.'),
    users: servedBy
      .prefault('upstream')
      .describe('Who serves /api/admin/users; if omitted where web has a console: own.'),
    audit: servedBy.prefault('own').describe('Who serves /api/admin/audit.'),
  })
  .prefault({})
  .describe(
    'Servers of the endpoints that are not always Postern’s: own, upstream, or off (404). If api_path is not /api, upstream is 404, too.',
  );

/** The name of a header (RFC 9110 §5.1). */
const headerNameRule: TextRule = (name) => {
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) return 'must be the name of a header';
};

/** The name of a header that can be withheld from upstreams. */
const droppableNameRule: TextRule = (name) => {
  const problem = headerNameRule(name);
  if (problem !== undefined) return problem;
  if (framingNames.has(normalisedName(name))) return "is set on every request and can't be dropped";
};

/** The name of a header of an application's own that begins as Postern's do. */
const passedNameRule: TextRule = (name) => {
  const lower = name.toLowerCase();
  if (!/^[a-z0-9-]{1,64}$/.test(lower) || !lower.startsWith(identityPrefix) || lower === identityPrefix)
    return 'must be a name that begins with X-Auth-, of letters, digits and -';
  if (ownIdentityNames.has(lower)) return "is a name of Postern's own";
};

const headers = z
  .strictObject({
    odd_names: z
      .enum(['drop', 'pass'])
      .prefault('drop')
      .describe(
        'Names with characters other than letters, digits and -, which CGI, WSGI and PHP mistake for other names: drop or pass. Names that begin with Mcp-Param- always pass.',
      ),
    method_override: z
      .enum(['drop', 'pass'])
      .prefault('drop')
      .describe(
        'X-HTTP-Method-Override and similar headers, which bypass a route’s scopes by method: drop or pass.',
      ),
    drop: z
      .array(text(droppableNameRule))
      .prefault([])
      .describe('Additional names that are removed from every client’s request, in any spelling.'),
    pass: z
      .array(text(passedNameRule))
      .prefault([])
      .describe(
        'Names that begin with X-Auth- and are an application’s own, none of Postern’s: a client’s pass in that spelling, except to an upstream or listener with assertion.',
      ),
  })
  .prefault({})
  .describe('Client headers that upstreams could mistake for something else.');

// With credentials browsers take `*` for the name of a header (Fetch Standard §3.2.3): it would expose nothing.
const exposedNameRule: TextRule = (name) =>
  name === '*' ? 'must be the name of a header: with credentials * exposes none' : headerNameRule(name);

const cors = z
  .strictObject({
    origins: z
      .array(text(corsOriginRule))
      .prefault([])
      .describe(
        'Exact origins whose pages may send requests with credentials; if empty, a preflight is a request like any other.',
      ),
    expose: z
      .array(text(exposedNameRule))
      .prefault([])
      .describe('Additional response headers that pages of these origins may read.'),
  })
  .prefault({})
  .describe('Cross-origin requests.');

const audit = z
  .strictObject({
    retention: duration({ min: '1h' }).prefault('90d').describe('Time for which an audit event is kept.'),
    max_events: whole({ min: 1000 })
      .prefault(1_000_000)
      .describe(
        'Maximum number of audit events; beyond it the oldest are dropped, and no request is refused.',
      ),
  })
  .prefault({})
  .describe('Audit events in the records store; the log has them too.');

const log = z
  .strictObject({
    level: z
      .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])
      .prefault('info')
      .describe('Lowest level written.'),
    format: z
      .enum(['auto', 'json', 'text'])
      .prefault('auto')
      .describe('JSON lines, or text for people; auto: text on a terminal, json elsewhere.'),
  })
  .prefault({})
  .describe('The log on standard output.');

/** Schema of the whole configuration; every section is strict and has defaults. Rules that span keys are in rules/. */
export const configSchema = z.strictObject({
  tenant: matching(/^[A-Za-z0-9._-]{1,63}$/, 'must be 1 to 63 of A-Z, a-z, 0-9, . _ -').describe(
    'Name of this instance: realm of its challenges, and part of its keys in Redis.',
  ),
  base_url: text(originRule)
    .transform((value) => value.replace(/\/$/, ''))
    .describe(
      'Origin that clients see, without a path: issuer and audience of access tokens; https makes cookies Secure.',
    ),
  api_path: text(areaPathRule('/gate/api'))
    .prefault(defaultApiPath)
    .describe(
      'Path of Postern’s own API. Any other than /api, such as /postern/api below the pages, is Postern’s as a whole, and leaves /api to the routes.',
    ),
  hosts: z
    .array(text(namedOriginRule))
    .min(1, 'must have at least one origin')
    .max(256, 'must have at most 256 origins')
    .optional()
    .describe(
      'Further origins, of base_url’s scheme, that people enter with one sign-in at base_url; * stands for the whole first label. If omitted, hosts aren’t told apart.',
    ),
  listen,
  management,
  trusted_proxies: z
    .array(text(ipOrCidrRule))
    .prefault([])
    .describe('Addresses and CIDR blocks of proxies whose X-Forwarded headers are trusted.'),
  stores,
  tokens,
  signing_keys: signingKeys,
  sessions,
  passwords,
  login_throttle: loginThrottle,
  api_keys: apiKeys,
  cors,
  bootstrap,
  paths,
  headers,
  limits,
  shutdown,
  workers,
  scopes,
  scope_sets: scopeSets,
  users,
  identity_providers: identityProviders,
  upstreams,
  routes,
  forward_auth: forwardAuth,
  endpoints,
  web,
  audit,
  log,
});

/**
 * A valid configuration, with the key names of the file. Durations are in milliseconds, sizes in bytes; addresses of stores and
 * upstreams are parsed; paths of files and sockets are absolute; `base_url` has no trailing slash.
 */
export type Config = z.output<typeof configSchema>;

/** An identity provider in a valid configuration. */
export type IdentityProviderConfig = Config['identity_providers'][string];

/** A listener for decisions in a valid configuration. */
export type DecisionListenerConfig = Config['forward_auth'][number];
