import type { NewSession, SessionsOfProvider, SessionTimes } from '../sessions.ts';
import type { RedisLink } from './link.ts';
import { scripts } from './scripts.ts';
import { parsed, sessionIdsFrom, wholeNumber } from './session-fields.ts';

/** Time added to the life of an index entry, ms: it must outlast its session even if the clock is set meanwhile. */
const slackMs = 60_000;
/** Maximum number of entries that a command removes. */
const batchSize = 100;

/** Fields of a session that decide which indexes it is in. */
type Indexed = Pick<NewSession, 'userId' | 'provider'>;

/** Indexes of the sessions by user, and by the provider's session and person. A surplus entry does no harm, and expires. */
export class SessionIndex {
  readonly #link: RedisLink;

  constructor(link: RedisLink) {
    this.#link = link;
  }

  /** Adds the session to its indexes until after its end; resolves to the expiry of the entries, epoch ms. */
  async add(id: string, session: Indexed, times: SessionTimes): Promise<number> {
    // Twice the idle lifetime, so that entries are renewed once per idle lifetime and not at every use.
    const forMs = Math.min(2 * times.idleLifetimeMs, times.absoluteLifetimeMs) + slackMs;
    const added = await Promise.all(this.#keysOf(session).map((key) => this.#addTo(key, id, forMs)));
    return Math.min(...added);
  }

  async #addTo(key: string, id: string, forMs: number): Promise<number> {
    const [, , until] = await this.#link.run(scripts.index, key, [id, forMs]);
    return parsed(() => wholeNumber(String(until), 'index'));
  }

  /** Removes a session from all its indexes in the background. */
  remove(id: string, session: Indexed): void {
    for (const key of this.#keysOf(session)) this.#removeFrom(key, [id]);
  }

  /** Removes sessions from their user's index in the background. */
  removeOfUser(userId: string, ids: readonly string[]): void {
    for (let start = 0; start < ids.length; start += batchSize)
      this.#removeFrom(this.#link.keys.userSessions(userId), ids.slice(start, start + batchSize));
  }

  #removeFrom(key: string, ids: readonly string[]): void {
    this.#link.read((client) => client.zrem(key, ...ids)).catch(() => {});
  }

  idsOf(userId: string): Promise<readonly string[]> {
    return this.#idsIn(this.#link.keys.userSessions(userId));
  }

  /** As {@link ../sessions.ts Sessions.idsOfProvider}. */
  idsOfProvider(which: SessionsOfProvider): Promise<readonly string[]> {
    return this.#idsIn(this.#link.keys.providerSessions(which));
  }

  #idsIn(key: string): Promise<readonly string[]> {
    return this.#link.read((client) => client.zrange(key, '0', '-1'), sessionIdsFrom);
  }

  #keysOf({ userId, provider }: Indexed): readonly string[] {
    const keys = [this.#link.keys.userSessions(userId)];
    if (!provider) return keys;
    const { issuer, subject, sid } = provider;
    keys.push(this.#link.keys.providerSessions({ issuer, subject }));
    if (sid !== null) keys.push(this.#link.keys.providerSessions({ issuer, sid }));
    return keys;
  }
}
