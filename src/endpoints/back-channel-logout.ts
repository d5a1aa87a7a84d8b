import { z } from 'zod';
import { type EndSessionParts, endSession } from '../administration/sessions.ts';
import { Refusal, ValidationError } from '../errors.ts';
import type { Exchange } from '../http/exchange.ts';
import type { IdentityProvider } from '../identity-providers/identity-provider.ts';
import { readForm } from '../input/url-encoded.ts';
import type { Sessions, SessionsOfProvider } from '../stores/sessions.ts';
import { originOf } from './caller.ts';
import type { EndpointDefinition } from './endpoint.ts';

/** Dependencies of a provider's back-channel logout. */
export interface BackChannelLogoutParts extends EndSessionParts {
  readonly provider: Pick<IdentityProvider, 'name' | 'logOut'>;
  readonly sessions: EndSessionParts['sessions'] & Pick<Sessions, 'idsOfProvider'>;
}

const logoutFields = z
  .object({
    logout_token: z.string().describe('The logout token (a JWT) of the provider.'),
  })
  .meta({ id: 'Body_Authentication-BackChannelLogout', title: 'Body_Authentication-BackChannelLogout' });

/** Number of sessions that are ended concurrently. */
const batchSize = 20;

/**
 * `POST /api/login/{provider}/back-channel-logout`: ends the sessions that the provider says have ended (OpenID Connect
 * Back-Channel Logout 1.0). No browser calls it, so it needs no protection against foreign pages.
 */
export const backChannelLogout: EndpointDefinition<'open', BackChannelLogoutParts> = {
  id: 'Authentication-BackChannelLogout',
  method: 'POST',
  path: '/api/login/{provider}/back-channel-logout',
  guard: 'open',
  oauth: true,
  summary: 'Ends the sessions that an identity provider says have ended',
  description:
    'For the provider itself (OpenID Connect Back-Channel Logout 1.0). Ends the sessions that began under the `sid` of the logout token, or without one those of its `sub`. A token is accepted once; 200 also where there is no such session.',
  body: {
    mediaType: 'application/x-www-form-urlencoded',
    schema: () => logoutFields,
    malformed: 'bad_request',
  },
  success: { status: 200, description: 'None of those sessions lives any longer. Empty body.' },
  refusals: ['bad_request', 'not_found', 'store_unavailable', 'provider_unavailable'],

  create(parts) {
    return async ({ exchange, body, contentType }) => {
      const token = readToken(body, contentType);
      await parts.provider.logOut(token, (which) => endAll(parts, exchange, which));
      return { status: 200 };
    };
  },
};

async function endAll(
  parts: BackChannelLogoutParts,
  exchange: Exchange,
  which: SessionsOfProvider,
): Promise<void> {
  const { provider, sessions } = parts;
  const byProvider = () => ({ actor: { user: null, kind: 'provider' as const }, provider: provider.name });
  const ids = await sessions.idsOfProvider(which);
  for (let start = 0; start < ids.length; start += batchSize) {
    const batch = ids.slice(start, start + batchSize);
    const ends = batch.map((id) => endSession(parts, id, originOf(exchange), byProvider));
    const results = await Promise.allSettled(ends);
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  }
}

/** Reads the form's token. Refuses any malformed request, even one without a token, as `bad_request` (§2.8 of that document). */
function readToken(body: Uint8Array, contentType: string | undefined): string {
  try {
    return readForm(body, contentType, logoutFields, { secret: ['logout_token'] }).logout_token;
  } catch (error) {
    throw error instanceof ValidationError
      ? new Refusal('bad_request', { cause: 'no logout_token', reason: 'logout token' })
      : error;
  }
}
