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

/** `GET /.well-known/jwks.json`: the public keys of access tokens (RFC 7517 §5), for upstreams that verify them too. */
export function createJwks(tokens: Pick<AccessTokens, 'jwks'>): Endpoint<'open'> {
  return {
    method: 'GET',
    path: '/.well-known/jwks.json',
    guard: 'open',
    handle: async () => ({ status: 200, body: await tokens.jwks(), cacheControl: 'public, max-age=300' }),
  };
}
