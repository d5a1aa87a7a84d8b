import { z } from 'zod';
import { booleanText } from '../../input/pydantic-types.ts';
import { readQuery } from '../../input/url-encoded.ts';
import type { EndpointDefinition } from '../endpoint.ts';

const scopesQuery = z.object({
  hydrate: booleanText().prefault(false).describe('Shows scopes as objects instead of bare names.'),
});

const describedScope = z.object({
  scope: z.string(),
  description: z.string().describe('The sentence of the configuration, for people.'),
  built_in: z.boolean().describe("True for the scopes of Postern's own endpoints."),
});

/** `GET /api/admin/api-keys/scopes`: the catalogue of scopes, all of which can be granted to keys. */
export const apiKeysScopes: EndpointDefinition = {
  id: 'ApiKeys-Scopes',
  method: 'GET',
  path: '/api/admin/api-keys/scopes',
  guard: { scopes: ['apikeys:write'] },
  summary: 'Lists the scopes that keys can be granted',
  description: 'The built-in scopes and those of the configuration. The caller may hold fewer.',
  query: () => scopesQuery,
  success: {
    status: 200,
    description: 'The whole catalogue, sorted: objects with `hydrate=true`, bare names otherwise.',
    schema: () => z.union([z.array(z.string()), z.array(describedScope)]),
  },
  refusals: [],

  create({ describedScopes }) {
    const names = describedScopes.map(({ scope }) => scope);
    return async ({ exchange }) => {
      const { hydrate } = readQuery(exchange.query, scopesQuery);
      return { status: 200, body: hydrate ? describedScopes : names };
    };
  },
};

const keyRoute = z.object({
  origin: z
    .string()
    .optional()
    .describe(
      'Origin of its host, where `*` may stand for the first label; absent on routes of every other host.',
    ),
  path: z.string(),
  exact: z
    .boolean()
    .describe('True if the route has this path alone, false if it has every path below as well.'),
  scopes: z
    .record(z.string(), z.array(z.string()))
    .describe('Scopes required, by method name, `read` and `write`; `*`: by every method.'),
});

/** `GET /api/admin/api-keys/routes`: the routes of the service on which keys are accepted. */
export const apiKeysRoutes: EndpointDefinition = {
  id: 'ApiKeys-Routes',
  method: 'GET',
  path: '/api/admin/api-keys/routes',
  guard: { scopes: ['apikeys:write'] },
  summary: 'Lists the routes that keys can call',
  description:
    'Paths that accept API keys, in the order of the configuration, without public ones; their upstreams are not shown.',
  success: { status: 200, description: 'The routes.', schema: () => z.array(keyRoute) },
  refusals: [],

  create({ keyRoutes }) {
    return async () => ({ status: 200, body: keyRoutes });
  },
};
