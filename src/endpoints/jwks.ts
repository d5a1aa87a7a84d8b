import type { JSONWebKeySet } from 'jose';
import { z } from 'zod';
import type { AccessTokens } from '../credentials/access-token.ts';
import type { Endpoint } from './endpoint.ts';

/** A JWK set (RFC 7517 §5); what else a key has depends on its type (RFC 7518 §6, RFC 8037 §2). */
export const jwkSet = z
  .object({
    keys: z.array(
      z.looseObject({ kty: z.string(), kid: z.string(), use: z.literal('sig'), alg: z.string() }),
    ),
  })
  .meta({ id: 'JsonWebKeySet' });

/** What clients may do with published keys: a key is published for longer than this before it signs. */
const cacheControl = 'public, max-age=300';

/** `GET /.well-known/jwks.json`: the public keys of access tokens (RFC 7517 §5), for upstreams that verify them too. */
export function createJwks(tokens: Pick<AccessTokens, 'jwks'>): Endpoint<'open'> {
  return {
    method: 'GET',
    path: '/.well-known/jwks.json',
    guard: 'open',
    handle: async () => ({ status: 200, body: await tokens.jwks(), cacheControl }),
  };
}

/** `GET /.well-known/postern-assertion-jwks.json`: the public keys of assertions, for the services that verify them. */
export function createAssertionJwks(assertions: {
  readonly published: () => Promise<JSONWebKeySet>;
}): Endpoint<'open'> {
  return {
    method: 'GET',
    path: '/.well-known/postern-assertion-jwks.json',
    guard: 'open',
    handle: async () => ({ status: 200, body: await assertions.published(), cacheControl }),
  };
}
