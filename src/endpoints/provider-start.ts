import { z } from 'zod';
import type { IdentityProvider } from '../identity-providers/identity-provider.ts';
import { readQuery } from '../input/url-encoded.ts';
import { maxReturnToBytes, returnToPattern } from '../rules/return-to.ts';
import type { EndpointDefinition } from './endpoint.ts';
import type { StartCookies } from './start-cookies.ts';

const startQuery = z.object({
  return_to: z
    .string()
    .max(maxReturnToBytes)
    .regex(returnToPattern)
    .optional()
    .describe('A path of the front end, returned by the exchange.'),
});

/** Schema of the response: the address at which the sign-in continues. */
const startResponse = z
  .object({ url: z.url().describe('Of the provider, for the browser to navigate to.') })
  .meta({ id: 'SignInStart' });

/** `GET /api/login/{provider}/start`: the address at which the provider signs people in (OpenID Connect Core §3.1.2, §3.2.2). */
export const providerStart: EndpointDefinition<
  'open',
  {
    readonly provider: Pick<IdentityProvider, 'start'>;
    readonly startCookies: Pick<StartCookies, 'set'>;
    readonly now: () => number;
  }
> = {
  id: 'Authentication-Start',
  method: 'GET',
  path: '/api/login/{provider}/start',
  guard: 'open',
  noHead: true,
  summary: 'Begins a sign-in through an identity provider',
  description: 'Sets a cookie that binds the sign-in to this browser; up to eight may go on at once.',
  query: () => startQuery,
  success: {
    status: 200,
    description: 'Where the browser goes next.',
    schema: () => startResponse,
    headers: ['Set-Cookie', 'Referrer-Policy'],
  },
  refusals: ['not_found', 'provider_unavailable'],

  create({ provider, startCookies, now }) {
    return async ({ exchange }) => {
      const { return_to: returnTo = null } = readQuery(exchange.query, startQuery);
      const { url, start } = await provider.start({ returnTo });
      return { status: 200, body: { url }, headers: startCookies.set(exchange.head.cookie, start, now()) };
    };
  },
};
