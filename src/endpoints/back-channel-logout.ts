import { z } from 'zod';
import { Refusal, ValidationError } from '../errors.ts';
import type { Exchange } from '../http/exchange.ts';
import type { IdentityProvider } from '../identity-providers/identity-provider.ts';
import { readForm } from '../input/form-body.ts';
import type { Sessions, SessionsOfProvider } from '../stores/sessions.ts';
import type { EndSession } from './end-session.ts';
import type { Endpoint } from './endpoint.ts';

/** What the back-channel logout of one provider needs. */
export interface BackChannelLogoutOptions {
  readonly provider: Pick<IdentityProvider, 'name' | 'logOut'>;
  readonly sessions: Pick<Sessions, 'idsOfProvider'>;
  readonly endSession: EndSession;
}

/** The form that a provider sends. */
export const logoutFields = z
  .object({
    logout_token: z.string().describe('The logout token (a JWT) of the provider.'),
  })
  .meta({ id: 'Body_Authentication-BackChannelLogout', title: 'Body_Authentication-BackChannelLogout' });

/** How many sessions are ended at a time. */
const batchSize = 20;

/**
 * `POST /api/login/{provider}/back-channel-logout`: ends the sessions that the provider says have ended (OpenID Connect
 * Back-Channel Logout 1.0). The provider itself calls it: there is no cookie, and no page that could be foreign.
 */
export function createBackChannelLogout(options: BackChannelLogoutOptions): Endpoint<'open'> {
  const { provider, sessions, endSession } = options;
  const byProvider = () => ({ actor: { user: null, kind: 'provider' as const }, provider: provider.name });

  async function endAll(exchange: Exchange, which: SessionsOfProvider): Promise<void> {
    const ids = await sessions.idsOfProvider(which);
    for (let start = 0; start < ids.length; start += batchSize) {
      const batch = ids.slice(start, start + batchSize);
      const results = await Promise.allSettled(batch.map((id) => endSession(exchange, id, byProvider)));
      for (const result of results) if (result.status === 'rejected') throw result.reason;
    }
  }

  return {
    method: 'POST',
    path: `/api/login/${provider.name}/back-channel-logout`,
    guard: 'open',
    oauth: true,
    async handle({ exchange, body, contentType }) {
      const token = readToken(body, contentType);
      await provider.logOut(token, (which) => endAll(exchange, which));
      return { status: 200 };
    },
  };
}

/** Whatever is wrong with a logout request is 400 (§2.8), a missing token too. */
function readToken(body: Uint8Array, contentType: string | undefined): string {
  try {
    return readForm(body, contentType, logoutFields, { secret: ['logout_token'] }).logout_token;
  } catch (error) {
    throw error instanceof ValidationError
      ? new Refusal('bad_request', { cause: 'no logout_token', reason: 'logout token' })
      : error;
  }
}
