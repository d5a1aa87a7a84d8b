import { z } from 'zod';
import type { EndpointDefinition } from './endpoint.ts';

/** Schema of a JWK set (RFC 7517 §5); the other members of a key depend on its type (RFC 7518 §6, RFC 8037 §2). */
const jwkSet = z
  .object({
    keys: z.array(
      z.looseObject({ kty: z.string(), kid: z.string(), use: z.literal('sig'), alg: z.string() }),
    ),
  })
  .meta({ id: 'JsonWebKeySet' });

/** `Cache-Control` of published keys. A new key is published for longer than this `max-age` before it signs. */
const cacheControl = 'public, max-age=300';

const published = {
  method: 'GET',
  guard: 'open',
  success: {
    status: 200,
    description: 'A JWK set (RFC 7517).',
    schema: () => jwkSet,
    headers: ['Cache-Control'],
  },
  refusals: ['method_not_allowed'],
} as const;

/** `GET /.well-known/jwks.json`: the public keys of access tokens (RFC 7517 §5), for upstreams that also verify the tokens. */
export const jwks: EndpointDefinition<'open'> = {
  ...published,
  id: 'Authentication-Jwks',
  path: '/.well-known/jwks.json',
  summary: 'Gives the public keys of access tokens',
  description: 'May be cached for five minutes.',

  create({ tokens }) {
    return async () => ({ status: 200, body: await tokens.jwks(), cacheControl });
  },
};

/** `GET /.well-known/postern-assertion-jwks.json`: the public keys of assertions, for the services that verify them. */
export const assertionJwks: EndpointDefinition<'open'> = {
  ...published,
  id: 'Authentication-AssertionJwks',
  path: '/.well-known/postern-assertion-jwks.json',
  summary: 'Gives the public keys of assertions',
  description:
    'For the services that verify `X-Auth-Assertion`. May be cached for five minutes. The management listener has them, too.',

  create({ assertions }) {
    return async () => ({ status: 200, body: await assertions.published(), cacheControl });
  },
};
