import type { AccessTokens } from '../credentials/access-token.ts';
import type { Endpoint } from './endpoint.ts';

/** `GET /.well-known/jwks.json`: the public keys of access tokens (RFC 7517 §5), for upstreams that verify them too. */
export function createJwks(tokens: Pick<AccessTokens, 'jwks'>): Endpoint {
  return {
    method: 'GET',
    path: '/.well-known/jwks.json',
    guard: 'open',
    answer: async () => ({ status: 200, body: tokens.jwks(), cacheControl: 'public, max-age=300' }),
  };
}
