import type { RefreshCookies } from '../credentials/refresh-cookie.ts';
import { Refusal } from '../errors.ts';
import { type CookieAttributes, cookieValues, setCookie } from '../http/cookies.ts';
import { actorOfSession } from '../log/log.ts';
import type { Sessions } from '../stores/sessions.ts';
import { type Audit, actorOf } from './audit.ts';
import { type EndedSessionOptions, wasAlive } from './ended-session.ts';
import type { Call, Endpoint } from './endpoint.ts';

/** `Sec-Fetch-Site` of a sign-out by the cookie alone: another site's link or image must not end a session. */
const trustedSites: ReadonlySet<string> = new Set(['', 'none', 'same-origin', 'same-site']);

/** `GET /api/logout`: ends the session of the bearer token, and every session of a valid refresh cookie. */
export function createLogout(options: {
  readonly sessions: Pick<Sessions, 'revoke'>;
  readonly records: EndedSessionOptions['records'];
  readonly cookies: RefreshCookies;
  readonly cookie: CookieAttributes;
  readonly audit: Audit;
  readonly onSessionEnded: (sessionId: string) => void;
}): Endpoint<'sign_out'> {
  const { sessions, records, cookies, cookie, audit, onSessionEnded } = options;

  function sessionsToEnd({ exchange, principal }: Call<'sign_out'>): Set<string> {
    const ids = new Set(principal === null ? [] : [principal.credentialId]);
    if (principal !== null || trustedSites.has(exchange.head.secFetchSite)) {
      const presented = cookies.validOf(cookieValues(exchange.head.cookie, cookie.name));
      for (const { sessionId } of presented) ids.add(sessionId);
    }
    return ids;
  }

  async function end({ exchange, principal }: Call<'sign_out'>, id: string): Promise<boolean> {
    const ended = await sessions.revoke(id);
    onSessionEnded(id);
    if (ended === undefined || !(await wasAlive(records, ended))) return false;
    audit(exchange, {
      event: 'session_revoked',
      outcome: 'success',
      actor: principal === null ? actorOfSession(ended.userId, id) : actorOf(principal),
      subject: ended.userId,
      session: id,
    });
    return true;
  }

  return {
    method: 'GET',
    path: '/api/logout',
    guard: 'sign_out',
    noHead: true,
    async handle(call) {
      const ids = sessionsToEnd(call);
      if (ids.size === 0) throw new Refusal('not_authenticated');
      if (/\bprefetch\b/i.test(call.exchange.head.secPurpose)) throw new Refusal('prefetch');
      let any = call.principal !== null;
      for (const id of ids) any = (await end(call, id)) || any;
      if (!any) throw new Refusal('not_authenticated');
      return { status: 200, headers: ['Set-Cookie', setCookie(cookie, '', 0)] };
    },
  };
}
