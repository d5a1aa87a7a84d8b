import type { RefreshCookies } from '../credentials/refresh-cookie.ts';
import { Refusal } from '../errors.ts';
import { cookieValues } from '../http/cookies.ts';
import { assertNoPrefetch } from '../http/prefetch.ts';
import { byItsUser, type EndSession } from './end-session.ts';
import type { Call, Endpoint } from './endpoint.ts';

/** `Sec-Fetch-Site` of a sign-out by the cookie alone: another site's link or image must not end a session. */
const trustedSites: ReadonlySet<string> = new Set(['', 'none', 'same-origin', 'same-site']);

/** `GET /api/logout`: ends the session of the bearer token, and every session of a valid refresh cookie. */
export function createLogout(options: {
  readonly endSession: EndSession;
  readonly cookies: RefreshCookies;
  /** The name of the refresh cookie. */
  readonly cookieName: string;
  /** Headers by which a browser forgets its session, names and values in turn. */
  readonly forgetting: readonly string[];
}): Endpoint<'sign_out'> {
  const { endSession, cookies, cookieName, forgetting } = options;

  async function sessionsToEnd({ exchange, principal }: Call<'sign_out'>): Promise<Set<string>> {
    const ids = new Set(principal === null ? [] : [principal.credentialId]);
    if (principal !== null || trustedSites.has(exchange.head.secFetchSite)) {
      const values = cookieValues(exchange.head.cookie, cookieName);
      await cookies.learnSecretsOf(values);
      for (const { sessionId } of cookies.validOf(values)) ids.add(sessionId);
    }
    return ids;
  }

  return {
    method: 'GET',
    path: '/api/logout',
    guard: 'sign_out',
    noHead: true,
    async handle(call) {
      const { exchange, principal } = call;
      const ids = await sessionsToEnd(call);
      if (ids.size === 0) throw new Refusal('not_authenticated');
      assertNoPrefetch(exchange.head);
      let any = principal !== null;
      for (const id of ids) any = (await endSession(exchange, id, byItsUser(principal))) !== undefined || any;
      if (!any) throw new Refusal('not_authenticated');
      return { status: 200, headers: forgetting };
    },
  };
}
