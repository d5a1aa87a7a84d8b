import { decideRotation, initialRotation, sessionTime, setBack } from '../session-rotation.ts';
import type {
  CreatedSession,
  NewSession,
  Presentation,
  Session,
  Sessions,
  SessionTimes,
} from '../sessions.ts';
import type { SteadyClock } from '../steady-clock.ts';
import type { LiveSessions } from './live-sessions.ts';
import type { EndedRow, SessionRow, SessionStatements } from './session-statements.ts';

/** The steps that change sessions, each to be run in a transaction; see {@link Sessions} for what they do. */
export class SessionSteps {
  readonly #statements: SessionStatements;
  readonly #live: LiveSessions;
  readonly #clock: SteadyClock;
  readonly #now: () => number;

  constructor(statements: SessionStatements, live: LiveSessions, clock: SteadyClock) {
    this.#statements = statements;
    this.#live = live;
    this.#clock = clock;
    this.#now = clock.now;
  }

  create(session: NewSession, times: SessionTimes, maxPerUser?: number): CreatedSession {
    const at = this.#now();
    const expires = at + Math.min(times.idleLifetimeMs, times.absoluteLifetimeMs);
    const row = { ...rowOf(session), created: at, lastUsed: at, expires, ...initialRotation(at) };
    this.#statements.insert.run(row);
    const ended = maxPerUser === undefined ? [] : this.#endExcess(row, maxPerUser, at);
    return { session: toSession(row), now: at, ended };
  }

  #endExcess({ id, userId }: Pick<Session, 'id' | 'userId'>, max: number, now: number): readonly Session[] {
    const removed = this.#statements.removeExcess.all(userId, now, id, max - 1);
    for (const { id } of removed) this.#live.delete(id);
    return removed.map(toSession);
  }

  present(id: string, generation: number, times: SessionTimes): Presentation {
    const row = this.#statements.byId.get(id);
    if (row === undefined) return { outcome: 'gone' };
    const now = this.#now();
    if (row.expires <= now) return { outcome: 'gone' };
    const { reuseGraceMs, idleLifetimeMs, absoluteLifetimeMs } = times;
    const time = { now, unbroken: this.#clock.unbroken() };
    const { at, setBackMs } = sessionTime(time, row.lastUsed, reuseGraceMs);
    const decision = decideRotation(row, generation, at, reuseGraceMs);
    if (decision.outcome === 'gone') return decision;
    this.#live.delete(id);
    if (decision.outcome === 'reused') {
      this.#statements.remove.get(id);
      return { outcome: 'reused', session: toSession(row) };
    }
    const lastUsed = at - setBackMs;
    const expires = Math.min(lastUsed + idleLifetimeMs, row.created + absoluteLifetimeMs);
    const used = { ...row, ...setBack(decision.state, setBackMs), lastUsed, expires };
    this.#statements.update.run(used);
    // A shorter lifetime, configured in the meantime, may have ended the session just now.
    if (expires <= lastUsed) return { outcome: 'gone' };
    return { outcome: 'current', session: toSession(used), rotated: decision.rotated, now: lastUsed };
  }

  noteUse(
    uses: readonly (readonly [id: string, instant: number])[],
    { idleLifetimeMs, absoluteLifetimeMs }: SessionTimes,
  ): void {
    const now = this.#now();
    for (const [id, instant] of uses) {
      const at = Math.min(instant, now);
      const { changes } = this.#statements.noteUse.run({ id, at, now, idleLifetimeMs, absoluteLifetimeMs });
      if (changes > 0) this.#live.delete(id);
    }
  }

  revoke(id: string): Session | undefined {
    this.#live.delete(id);
    const row = this.#statements.remove.get(id);
    return row !== undefined && row.expires > this.#now() ? toSession(row) : undefined;
  }

  revokeAllOf(userId: string, exceptId: string | undefined): readonly string[] {
    return this.#ended(this.#statements.removeOfUser.all(userId, exceptId ?? null));
  }

  /** Ends up to `limit` sessions of any user; returns how many were deleted, and the ids of those that were alive. */
  revokeSome(limit: number): { readonly count: number; readonly live: readonly string[] } {
    const removed = this.#statements.removeSome.all(limit);
    return { count: removed.length, live: this.#ended(removed) };
  }

  #ended(removed: readonly EndedRow[]): readonly string[] {
    for (const { id } of removed) this.#live.delete(id);
    return removed.filter(({ expires }) => expires > this.#now()).map(({ id }) => id);
  }
}

function rowOf({ provider, sealedIdToken = null, sealedClaims = null, ...session }: NewSession) {
  const { issuer = null, subject = null, sid = null } = provider ?? {};
  const ofProvider = { providerIssuer: issuer, providerSubject: subject, providerSid: sid };
  return { ...session, ...ofProvider, sealedIdToken, sealedClaims };
}

/** Converts a row to a session, without the fields that only the rotation needs. */
export function toSession({
  issued: _,
  presented: __,
  previous: ___,
  providerIssuer: issuer,
  providerSubject: subject,
  providerSid: sid,
  ...session
}: SessionRow): Session {
  return { ...session, provider: issuer === null || subject === null ? null : { issuer, subject, sid } };
}
