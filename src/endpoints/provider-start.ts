import { z } from 'zod';
import type { IdentityProvider } from '../identity-providers/identity-provider.ts';
import { readQuery } from '../input/query.ts';
import { maxReturnToLength, returnToPattern } from '../rules/return-to.ts';
import type { Endpoint } from './endpoint.ts';
import type { StartCookies } from './start-cookies.ts';

/** The query of a start. */
export const startQuery = z.object({
  return_to: z
    .string()
    .max(maxReturnToLength)
    .regex(returnToPattern)
    .optional()
    .describe('A path of the front end, returned by the exchange.'),
});

/** Where a sign-in continues. */
export const startResponse = z
  .object({ url: z.url().describe('Of the provider, for the browser to navigate to.') })
  .meta({ id: 'SignInStart' });

/** `GET /api/login/{provider}/start`: where the provider signs people in (OpenID Connect Core §3.1.2, §3.2.2). */
export function createProviderStart(options: {
  readonly provider: Pick<IdentityProvider, 'name' | 'start'>;
  readonly cookies: Pick<StartCookies, 'set'>;
  readonly now: () => number;
}): Endpoint<'open'> {
  const { provider, cookies, now } = options;
  return {
    method: 'GET',
    path: `/api/login/${provider.name}/start`,
    guard: 'open',
    noHead: true,
    async handle({ exchange }) {
      const { return_to: returnTo = null } = readQuery(exchange.query, startQuery);
      const { url, start } = await provider.start({ returnTo });
      return { status: 200, body: { url }, headers: cookies.set(exchange.head.cookie, start, now()) };
    },
  };
}
