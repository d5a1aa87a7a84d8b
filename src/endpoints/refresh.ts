import { LiveSessionFinder } from '../administration/live-sessions.ts';
import { recordSessionEnd } from '../administration/sessions.ts';
import type { RefreshCookie } from '../credentials/refresh-cookie.ts';
import { Refusal } from '../errors.ts';
import { cookieValues } from '../http/cookies.ts';
import type { Exchange } from '../http/exchange.ts';
import type { Reply } from '../http/reply.ts';
import { isUnavailable } from '../stores/remote/breaker.ts';
import { admitsSession } from '../stores/session-epoch.ts';
import type { Presentation, Session } from '../stores/sessions.ts';
import type { UserWithSets } from '../stores/user.ts';
import { anonymousIn, systemIn } from './caller.ts';
import type { EndpointDefinition } from './endpoint.ts';
import type { EndpointParts } from './endpoint-parts.ts';
import { loginResponse } from './sign-in.ts';

type Accepted = Extract<Presentation, { outcome: 'current' }>;

/** `POST /api/login/refresh-token`: issues a new access token for the refresh cookie (RFC 6749 §6, RFC 9700 §4.14). */
export const refresh: EndpointDefinition<'open'> = {
  id: 'Authentication-Refresh',
  method: 'POST',
  path: '/api/login/refresh-token',
  guard: 'open',
  oauth: true,
  takesCookie: true,
  summary: 'Renews the access token',
  description: 'The cookie may be rotated. A refusal never clears it.',
  success: {
    status: 200,
    description: 'A new access token.',
    schema: () => loginResponse,
    headers: ['Set-Cookie'],
  },
  refusals: ['invalid_refresh_token', 'cross_site', 'store_unavailable'],

  create(parts) {
    const steps = new Refresh(parts);
    return ({ exchange }) => steps.respond(exchange);
  },
};

class Refresh {
  readonly #parts: EndpointParts;

  constructor(parts: EndpointParts) {
    this.#parts = parts;
  }

  async respond(exchange: Exchange): Promise<Reply> {
    const { refreshes, signIn } = this.#parts;
    const cookies = await this.#requireCookies(exchange);
    this.#assertKnownOrigin(exchange);
    const { session, rotated, now } = await this.#present(exchange, await this.#requireOne(cookies));
    const found = await this.#requireUser(exchange, session);
    refreshes[rotated ? 'rotated' : 'current']++;
    return signIn.reply(session, found, now);
  }

  async #requireCookies({ head }: Exchange): Promise<readonly RefreshCookie[]> {
    const { cookies, cookie } = this.#parts;
    const values = cookieValues(head.cookie, cookie.name);
    await cookies.learnSecretsOf(values);
    const presented = cookies.newestOf(values);
    if (presented.length === 0) throw this.#refused();
    return presented;
  }

  /** Refuses unknown origins where `SameSite=None` lets any page send the cookie along. */
  #assertKnownOrigin({ head }: Exchange): void {
    const { cookie, isKnownOrigin } = this.#parts;
    if (cookie.sameSite !== 'none' || head.originCount === 0) return;
    if (head.originCount > 1 || !isKnownOrigin(head.origin)) throw this.#refused('refused', 'cross_site');
  }

  /**
   * The cookie to use: the only one presented, or the only one whose session is live. A cookie left over from an ended session
   * under another path or domain, or planted by a neighbouring host, must not prevent the refresh.
   */
  async #requireOne(presented: readonly RefreshCookie[]): Promise<RefreshCookie> {
    const [first, ...rest] = presented;
    if (first !== undefined && rest.length === 0) return first;
    const { sessions, records } = this.#parts;
    const finder = new LiveSessionFinder(sessions, records);
    const found = await Promise.all(presented.map(({ sessionId }) => finder.find(sessionId)));
    const [live, ...others] = presented.filter((_, index) => found[index] !== undefined);
    if (live === undefined || others.length > 0) throw this.#refused();
    return live;
  }

  async #present(exchange: Exchange, { sessionId, generation }: RefreshCookie): Promise<Accepted> {
    const { sessions, times, audit } = this.#parts;
    const presentation = await sessions.present(sessionId, generation, times);
    if (presentation.outcome === 'current') return presentation;
    if (presentation.outcome === 'gone') throw this.#refused();
    const { id, userId } = presentation.session;
    this.#parts.onCredentialEnded(id);
    // The user of the session; who presented the cookie is unknown.
    audit.record(anonymousIn(exchange, userId), {
      event: 'refresh_token_reused',
      outcome: 'failure',
      subject: userId,
      session: id,
    });
    throw this.#refused('reused');
  }

  /** The user of the session. Ends a session that the records no longer admit: its end may not have reached the session store. */
  async #requireUser(exchange: Exchange, session: Session): Promise<UserWithSets> {
    const { records, sessions, audit, onCredentialEnded } = this.#parts;
    const { id, userId } = session;
    const found = await records.findUser(userId);
    if (found !== undefined && admitsSession(found.user, session)) return found;
    await sessions.revoke(id).catch((error: unknown) => {
      if (!isUnavailable(error)) throw error;
    });
    onCredentialEnded(id);
    recordSessionEnd(audit, systemIn(exchange), session);
    throw this.#refused();
  }

  #refused(
    outcome: 'reused' | 'refused' = 'refused',
    code: 'invalid_refresh_token' | 'cross_site' = 'invalid_refresh_token',
  ): Refusal {
    this.#parts.refreshes[outcome]++;
    return new Refusal(code);
  }
}
