import type { RefreshCookie, RefreshCookies } from '../credentials/refresh-cookie.ts';
import { Refusal } from '../errors.ts';
import { type CookieAttributes, cookieValues } from '../http/cookies.ts';
import type { Exchange } from '../http/exchange.ts';
import type { IsKnownOrigin } from '../http/foreign-page.ts';
import { anonymous, system } from '../log/log.ts';
import type { Records } from '../stores/records.ts';
import type { Presentation, Session, Sessions, SessionTimes } from '../stores/sessions.ts';
import type { UserWithSets } from '../stores/user.ts';
import type { Audit } from './audit.ts';
import type { Endpoint } from './endpoint.ts';
import type { SignIn } from './sign-in.ts';

/** What presenting a refresh cookie came to, where the stores could be asked. */
export type RefreshOutcome = 'current' | 'rotated' | 'reused' | 'refused';

type Presented = Extract<Presentation, { outcome: 'current' }>;

/** `POST /api/login/refresh-token`: a new access token for the refresh cookie (RFC 6749 §6, RFC 9700 §4.14). */
export function createRefresh(options: {
  readonly sessions: Pick<Sessions, 'find' | 'present' | 'revoke'>;
  readonly records: Pick<Records, 'findUser'>;
  readonly cookies: RefreshCookies;
  readonly cookie: CookieAttributes;
  readonly times: SessionTimes;
  readonly signIn: SignIn;
  readonly isKnownOrigin: IsKnownOrigin;
  readonly audit: Audit;
  /** Added to with every cookie that is judged, and every call without one. */
  readonly refreshes: Record<RefreshOutcome, number>;
  readonly onSessionEnded: (sessionId: string) => void;
}): Endpoint<'open'> {
  const { sessions, records, cookies, cookie, times, signIn, isKnownOrigin, audit } = options;
  const { refreshes, onSessionEnded } = options;

  function refused(
    outcome: 'reused' | 'refused' = 'refused',
    code: 'invalid_refresh_token' | 'cross_site' = 'invalid_refresh_token',
  ): Refusal {
    refreshes[outcome]++;
    return new Refusal(code);
  }

  /** With `SameSite=None` any page can send the cookie along: only known origins may use it. */
  function assertKnownOrigin({ head }: Exchange): void {
    if (cookie.sameSite !== 'none' || head.originCount === 0) return;
    if (head.originCount > 1 || !isKnownOrigin(head.origin)) throw refused('refused', 'cross_site');
  }

  function requireCookies({ head }: Exchange): readonly RefreshCookie[] {
    const presented = cookies.newestOf(cookieValues(head.cookie, cookie.name));
    if (presented.length === 0) throw refused();
    return presented;
  }

  /**
   * Of cookies of several sessions, that of the one which lives: what is left of a session that ended, under another path
   * or domain, or planted by a neighbouring host, must not keep this one from refreshing.
   */
  async function requireOne(presented: readonly RefreshCookie[]): Promise<RefreshCookie> {
    if (presented.length === 1) return presented[0]!;
    const found = await Promise.all(presented.map(({ sessionId }) => sessions.find(sessionId)));
    const [one, ...others] = presented.filter((_, index) => found[index] !== undefined);
    if (one === undefined || others.length > 0) throw refused();
    return one;
  }

  async function present(exchange: Exchange, presented: RefreshCookie): Promise<Presented> {
    const came = await sessions.present(presented.sessionId, presented.generation, times);
    if (came.outcome === 'current') return came;
    if (came.outcome === 'gone') throw refused();
    const { id, userId } = came.session;
    onSessionEnded(id);
    audit(exchange, {
      event: 'refresh_token_reused',
      outcome: 'failure',
      actor: anonymous,
      subject: userId,
      session: id,
    });
    throw refused('reused');
  }

  async function requireEnabledUser(exchange: Exchange, session: Session): Promise<UserWithSets> {
    const found = await records.findUser(session.userId);
    if (found !== undefined && !found.user.disabled) return found;
    const { id, userId } = session;
    await sessions.revoke(id);
    onSessionEnded(id);
    audit(exchange, {
      event: 'session_revoked',
      outcome: 'success',
      actor: system,
      subject: userId,
      session: id,
    });
    throw refused();
  }

  return {
    method: 'POST',
    path: '/api/login/refresh-token',
    guard: 'open',
    oauth: true,
    async handle({ exchange }) {
      const presented = requireCookies(exchange);
      assertKnownOrigin(exchange);
      const { session, rotated, now } = await present(exchange, await requireOne(presented));
      const found = await requireEnabledUser(exchange, session);
      refreshes[rotated ? 'rotated' : 'current']++;
      return signIn.reply(session, found, now);
    },
  };
}
