import { z } from 'zod';
import { type CookieAttributes, cookieValues, setCookie } from '../http/cookies.ts';
import { readQuery } from '../http/query.ts';
import type { IdentityProvider } from '../identity-providers/identity-provider.ts';
import { bindingOf, type SignInStarts } from '../identity-providers/sign-in-start.ts';
import type { Endpoint } from './endpoint.ts';

/** One slash, never two, no backslash: browsers take those for another origin's address. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: browsers drop some of them, and two slashes meet
const path = /^\/([^/\\\u0000-\u001f\u007f-\u009f]+(\/[^/\\\u0000-\u001f\u007f-\u009f]+)*\/?)?$/;
const maxReturnToLength = 2048;

/** The query of a start. */
export const startQuery = z.object({
  return_to: z
    .string()
    .max(maxReturnToLength)
    .regex(path)
    .optional()
    .describe('A path of the front end, given back by the exchange.'),
});

/** Where a sign-in goes on. */
export const startResponse = z
  .object({ url: z.url().describe('Of the provider, for the browser to go to.') })
  .meta({ id: 'SignInStart' });

/** `GET /api/login/{provider}/start`: where the provider signs people in (OpenID Connect Core §3.1.2, §3.2.2). */
export function createProviderStart(options: {
  readonly provider: Pick<IdentityProvider, 'name' | 'start'>;
  readonly starts: Pick<SignInStarts, 'newBinding'>;
  /** Of the cookie that binds starts to their browser. */
  readonly cookie: CookieAttributes;
  /** How long that cookie is kept, ms. */
  readonly cookieLifetimeMs: number;
}): Endpoint {
  const { provider, starts, cookie, cookieLifetimeMs } = options;
  return {
    method: 'GET',
    path: `/api/login/${provider.name}/start`,
    guard: 'open',
    noHead: true,
    async answer({ exchange }) {
      const { return_to: returnTo = null } = readQuery(exchange.query, startQuery);
      // One value for all starts of a browser: a second tab must not end what the first has begun.
      const binding = bindingOf(cookieValues(exchange.head.cookie, cookie.name)) ?? starts.newBinding();
      const { url } = await provider.start({ binding, returnTo });
      const maxAgeSeconds = Math.ceil(cookieLifetimeMs / 1000);
      return {
        status: 200,
        body: { url },
        headers: ['Set-Cookie', setCookie(cookie, binding, maxAgeSeconds)],
      };
    },
  };
}
