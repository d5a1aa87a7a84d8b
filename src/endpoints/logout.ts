import { byItsUser, endSession } from '../administration/sessions.ts';
import { Refusal } from '../errors.ts';
import { cookieValues } from '../http/cookies.ts';
import { assertNoPrefetch } from '../http/prefetch.ts';

import { originOf } from './caller.ts';
import type { Call, EndpointDefinition } from './endpoint.ts';
import type { EndpointParts } from './endpoint-parts.ts';

/** Values of `Sec-Fetch-Site` with which the cookie alone signs out: another site's link or image must not end a session. */
const trustedSites: ReadonlySet<string> = new Set(['', 'none', 'same-origin', 'same-site']);

/** `GET /api/logout`: ends the session of the bearer token, and every session of a valid refresh cookie. */
export const logout: EndpointDefinition<'sign_out'> = {
  id: 'Authentication-Logout',
  method: 'GET',
  path: '/api/logout',
  guard: 'sign_out',
  noHead: true,
  takesCookie: true,
  summary: 'Signs out',
  description:
    "Ends the session of the bearer token and that of the cookie. With the cookie alone it must not come from another site; a browser's prefetch ends nothing. An access token that is no longer good counts as absent.",
  success: {
    status: 200,
    description: 'Signed out: access token and cookie stop working, the cookie is cleared. No body.',
    headers: ['Set-Cookie'],
  },
  refusals: ['prefetch'],

  create(parts) {
    const { forgetting } = parts;
    return async (call) => {
      const { exchange, principal } = call;
      const ids = await sessionsToEnd(parts, call);
      if (ids.size === 0) throw new Refusal('not_authenticated');
      assertNoPrefetch(exchange.head);
      let any = principal !== null;
      const by = byItsUser(principal);
      for (const id of ids) any = (await endSession(parts, id, originOf(exchange), by)) !== undefined || any;
      if (!any) throw new Refusal('not_authenticated');
      return { status: 200, headers: forgetting };
    };
  },
};

async function sessionsToEnd(
  { cookies, cookie }: Pick<EndpointParts, 'cookies' | 'cookie'>,
  { exchange, principal }: Call<'sign_out'>,
): Promise<Set<string>> {
  const ids = new Set(principal === null ? [] : [principal.credentialId]);
  if (principal !== null || trustedSites.has(exchange.head.secFetchSite)) {
    const values = cookieValues(exchange.head.cookie, cookie.name);
    await cookies.learnSecretsOf(values);
    for (const { sessionId } of cookies.validOf(values)) ids.add(sessionId);
  }
  return ids;
}
