import { z } from 'zod';
import { defaultCookieName } from '../config/sections/credentials.ts';
import { builtInScopes } from '../config/values/scope-names.ts';
import { apiKeyInDb } from '../endpoints/api-keys/read.ts';
import { backChannelLogout } from '../endpoints/back-channel-logout.ts';
import type { Operation } from '../endpoints/endpoint.ts';
import { login } from '../endpoints/login.ts';
import { providerExchange, providerExchangeForm } from '../endpoints/provider-exchange.ts';
import { providerStart } from '../endpoints/provider-start.ts';
import { refresh } from '../endpoints/refresh.ts';
import { administrationEndpoints, credentialEndpoints } from '../endpoints/table.ts';
import { atApiPath, defaultApiPath } from '../rules/own-areas.ts';
import { describeOperation } from './operation.ts';
import { commonResponses } from './refusals.ts';
import { type Json, schemaComponents } from './schemas.ts';

const operations: readonly Operation[] = [
  ...credentialEndpoints,
  providerStart,
  providerExchange,
  providerExchangeForm,
  backChannelLogout,
  ...administrationEndpoints,
];

/** Version of the interface, not of the product: it changes with what clients rely on. */
const interfaceVersion = '1.0.0';

const tags: Readonly<Record<string, string>> = {
  Authentication: 'Signing in, staying signed in, signing out.',
  Bootstrap: 'The first administrator.',
  ApiKeys: 'Keys for programs.',
  Sessions: 'Who is signed in.',
  Users: 'People and services.',
  ScopeSets: 'Scopes under a name.',
  Audit: 'Who did what.',
};

const errorFields = {
  detail: z
    .string()
    .describe('For people; constant per code, except that `insufficient_scope` names the scopes.'),
  code: z.string().describe('Stable: what to branch on.'),
  request_id: z.string().describe('As in `X-Request-Id`.'),
} as const;

const oauthFields = { error: z.string(), error_description: z.string() } as const;

/** Body of every refusal but a 422. */
const errorBody = z.object(errorFields).meta({ id: 'Error' });

/** Body of a refusal of sign-in or refresh: the fields of RFC 6749 §5.2 besides those of every refusal. */
const oauthErrorBody = z.object({ ...errorFields, ...oauthFields }).meta({ id: 'OAuthError' });

/** Problem in a 422, in FastAPI's shape. */
const validationProblem = z
  .object({
    type: z.string().describe("pydantic 2's name of the problem."),
    loc: z.array(z.union([z.string(), z.int()])).describe('`body` or `query`, then the path to the value.'),
    msg: z.string(),
    input: z.unknown().describe('The value as received; null if it is absent or secret.'),
    ctx: z.record(z.string(), z.unknown()).optional(),
  })
  .meta({ id: 'ValidationError' });

/** Body of a 422: every problem at once. */
const validationErrorBody = z
  .object({
    detail: z.array(validationProblem),
    code: z.literal('validation_error'),
    request_id: errorFields.request_id,
    error: oauthFields.error.optional().describe('At sign-in only (RFC 6749 §5.2).'),
    error_description: oauthFields.error_description.optional().describe('At sign-in only.'),
  })
  .meta({ id: 'HTTPValidationError' });

/** Named schemas that no operation refers to directly. */
const innerSchemas: readonly z.ZodType[] = [
  apiKeyInDb,
  errorBody,
  oauthErrorBody,
  validationErrorBody,
  validationProblem,
];

function securitySchemes(apiPath: string): Json {
  return {
    access_token: {
      type: 'oauth2',
      description:
        'A JWT from sign-in or refresh, sent as `Authorization: Bearer`. The catalogue also has the scopes of the configuration. The refresh token is in a cookie, so a refresh takes no parameters.',
      flows: {
        password: {
          tokenUrl: atApiPath(login.path, apiPath),
          refreshUrl: atApiPath(refresh.path, apiPath),
          scopes: builtInScopes,
        },
      },
    },
    api_key: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
    refresh_cookie: {
      type: 'apiKey',
      in: 'cookie',
      name: defaultCookieName,
      description: 'HttpOnly, set by sign-in and refresh; its name is `sessions.cookie.name`.',
    },
  };
}

const headers: Json = {
  'X-Request-Id': header(
    "The caller's, when it is given once and is 1-128 of `[A-Za-z0-9._-]`; else a new one.",
  ),
  'Set-Cookie': header(
    'The refresh cookie, with the attributes of `sessions.cookie`; at the start of a sign-in through a provider the cookie that binds it to the browser.',
  ),
  'Cache-Control': header('What caches may do; `no-store` on every other response.'),
  'Referrer-Policy': header('`no-referrer`: the address may contain an assertion or a code.'),
  ETag: header('The version of the record, for `If-Match`.'),
  'WWW-Authenticate': header('RFC 6750 §3; the realm is the tenant.'),
  'Retry-After': { ...header('Seconds.'), schema: { type: 'integer', minimum: 1 } },
  Allow: header('The methods of the resource.'),
};

function header(description: string): Json {
  return { description, schema: { type: 'string' } };
}

/**
 * The OpenAPI 3.1 document of all endpoints that Postern serves itself, made from the schemas that validate requests. `apiPath`:
 * the path below which a gateway serves them.
 */
export function openApiDocument(apiPath: string = defaultApiPath): object {
  const requests = operations.flatMap(({ body }) => (body === undefined ? [] : [body.schema()]));
  const responses = operations.flatMap(({ success }) =>
    success.schema === undefined ? [] : [success.schema()],
  );
  return {
    openapi: '3.1.0',
    info: {
      title: 'Postern',
      version: interfaceVersion,
      description: 'The requests that the gateway serves itself; every other request is forwarded.',
      license: { name: 'Apache 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The origin of `base_url`.' }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths: pathItems(apiPath),
    components: {
      schemas: byName({
        ...schemaComponents(requests, 'input'),
        ...schemaComponents([...responses, ...innerSchemas], 'output'),
      }),
      responses: commonResponses,
      headers,
      securitySchemes: securitySchemes(apiPath),
    },
  };
}

function pathItems(apiPath: string): Json {
  const byPath = Map.groupBy(operations, ({ path }) => atApiPath(path, apiPath));
  return Object.fromEntries(
    [...byPath].map(([path, ofPath]) => [
      path,
      Object.fromEntries(
        ofPath.map((operation) => [operation.method.toLowerCase(), describeOperation(operation)]),
      ),
    ]),
  );
}

function byName(components: Json): Json {
  return Object.fromEntries(Object.entries(components).sort(([a], [b]) => (a < b ? -1 : 1)));
}
