import type { Disturbances, Disturbed } from './disturbances.ts';
import { possibleGrants, possibleKeyScopes, possibleTokenScopes } from './holdings.ts';
import type { Made, ModelledKey, ModelledSession, ModelledToken, ModelledUser, Records } from './records.ts';
import type { Instant } from './register.ts';

/** What is promised, in milliseconds. */
export interface Promises {
  /** After an acknowledged revocation or change, every gateway knows it by then. */
  readonly propagationMs: number;
  /** `sessions.stale_if_error`. */
  readonly staleMs: number;
  /** After what age a token may have expired, by any clock of the run. */
  readonly tokenLifeMs: number;
  /** Whether the session store has kept everything that it acknowledged in that time. */
  readonly isKept: (from: Instant, to: Instant) => boolean;
}

/** Streams end, and cached judgements too, "at most a second after" `stale_if_error`. */
const afterStaleMs = 1_000;

/**
 * Judges responses by the records of the model. Nothing is a violation that some order of the requests explains, with what
 * gateways may not know yet.
 */
export class Judge {
  readonly records: Records;
  readonly #disturbances: Disturbances;
  readonly #promises: Promises;

  constructor(records: Records, disturbances: Disturbances, promises: Promises) {
    this.records = records;
    this.#disturbances = disturbances;
    this.#promises = promises;
  }

  /** How old the knowledge may be by which a request of that instant is judged, given where it is kept. */
  knownSince(where: readonly Disturbed[], at: Instant): Instant {
    const { propagationMs, staleMs } = this.#promises;
    const stalledMs = this.#disturbances.stalledMs(at - propagationMs - staleMs, at);
    const normal = at - propagationMs - stalledMs;
    const away = this.#disturbances.awaySince(where, at);
    if (away === undefined || at - away > staleMs + afterStaleMs + stalledMs) return normal;
    return away - propagationMs - stalledMs;
  }

  /** Why a session is over for certain at that instant, as far as every gateway must know; null: it may be alive. */
  sessionOver(session: ModelledSession, at: Instant): string | null {
    const { user, made } = session;
    const bySessions = this.knownSince(['sessions', 'records'], at);
    const byRecords = this.knownSince(['records'], at);
    const ended = session.endings.first(made.to, session);
    if (ended !== undefined && ended.until() <= bySessions) return ended.why;
    const everyone = this.records.everySessionEnding;
    for (const endings of [user.sessionEndings, user.removal, everyone]) {
      const ending = endings.first(made.to, session);
      if (ending !== undefined && ending.until() <= bySessions) return ending.why;
    }
    return user.disabled.possible(byRecords, at).includes(false) ? null : 'the user is disabled';
  }

  /** Whether a session may be over at some instant up to then. */
  mayBeOver(session: ModelledSession, at: Instant): boolean {
    const { user, made } = session;
    // A gateway that had not heard of the end yet may have made a session of before it.
    const since = made.from - this.#promises.propagationMs - this.#disturbances.stalledMs(made.from, made.to);
    const all = [user.sessionEndings, user.removal, this.records.everySessionEnding];
    return (
      !this.#promises.isKept(made.from, made.to) ||
      session.endings.mayHaveEnded(at, made.from, session) ||
      all.some((endings) => endings.mayHaveEnded(at, since, session)) ||
      user.disabled.possible(since, at).includes(true)
    );
  }

  /** Whether a token may have expired. */
  mayBeExpired({ issued }: ModelledToken, at: Instant): boolean {
    return at - issued.from > this.#promises.tokenLifeMs;
  }

  /** What is wrong with a session's token having been admitted with those scopes. */
  tokenAdmitted(
    session: ModelledSession,
    token: ModelledToken,
    scopes: string,
    { from, to }: Made,
  ): string | null {
    const over = this.sessionOver(session, from);
    if (over !== null) return `admitted ${this.#late(session, from)}after its end: ${over}`;
    const since = this.knownSince(['records'], from);
    return unexpectedScopes(possibleTokenScopes(this.records, session, token, since, to), scopes, 'admitted');
  }

  /** What is wrong with a new token that carries those scopes. */
  tokenIssued(
    user: ModelledUser,
    requested: readonly string[] | null,
    scopes: string,
    { from, to }: Made,
  ): string | null {
    const since = this.knownSince(['records'], from);
    return unexpectedScopes(possibleGrants(this.records, user, requested, since, to), scopes, 'issued');
  }

  /** Why a key is refused for certain at that instant; null: it may be valid. */
  keyOver(key: ModelledKey, at: Instant): string | null {
    const since = this.knownSince(['records'], at);
    const ending = key.endings.first(key.made.to);
    if (ending !== undefined && ending.until() <= since) return ending.why;
    const isEnabled = (owner: ModelledUser) => owner.disabled.possible(since, at).includes(false);
    return key.owner.possible(since, at).some(isEnabled) ? null : 'its owner is disabled';
  }

  /** Whether a key may have been deleted or suspended at some instant of that time. */
  keyMayBeOver(key: ModelledKey, { from, to }: Made): boolean {
    const since = this.knownSince(['records'], from);
    return (
      key.endings.mayHaveEnded(to, key.made.from) ||
      key.owner.possible(since, to).some((owner) => owner.disabled.possible(since, to).includes(true))
    );
  }

  /** What is wrong with a key having been admitted with those scopes. */
  keyAdmitted(key: ModelledKey, scopes: string, { from, to }: Made): string | null {
    const over = this.keyOver(key, from);
    if (over !== null) return `admitted after its end: ${over}`;
    const since = this.knownSince(['records'], from);
    return unexpectedScopes(possibleKeyScopes(this.records, key, since, to), scopes, 'admitted');
  }

  /** Whether someone may be refused for lack of that scope, or admitted with it: among those scopes. */
  static mayLack(possible: ReadonlySet<string> | undefined, scope: string): boolean {
    return possible === undefined || [...possible].some((scopes) => !scopes.split(' ').includes(scope));
  }

  #late(session: ModelledSession, at: Instant): string {
    const ending = session.endings.first(session.made.to, session);
    return ending === undefined ? '' : `${Math.round(at - ending.until())} ms `;
  }
}

function unexpectedScopes(
  possible: ReadonlySet<string> | undefined,
  scopes: string,
  how: string,
): string | null {
  if (possible === undefined || possible.has(scopes)) return null;
  const expected = [...possible].map((one) => `"${one}"`).join(' or ');
  return `${how} with "${scopes}", not ${expected}`;
}
