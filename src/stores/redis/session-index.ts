import type { SessionTimes } from '../sessions.ts';
import type { Keys } from './keys.ts';
import type { RedisLink } from './link.ts';
import { scripts } from './scripts.ts';
import { parsed, sessionIdsFrom, wholeNumber } from './session-fields.ts';

/** How much longer than its session an index entry lasts at most, ms: clocks move while it is written. */
const slackMs = 60_000;
/** How many entries one command removes. */
const batchSize = 100;

/** The sessions of each user. An entry too many does no harm, and expires. */
export class SessionIndex {
  readonly #link: RedisLink;
  readonly #keys: Keys;

  constructor(link: RedisLink, keys: Keys) {
    this.#link = link;
    this.#keys = keys;
  }

  /** Adds the session to its user's index until after its end; gives until when, epoch ms. */
  async add(id: string, userId: string, times: SessionTimes): Promise<number> {
    // Twice the idle lifetime, so that it is renewed once an idle lifetime and not at every use.
    const forMs = Math.min(2 * times.idleLifetimeMs, times.absoluteLifetimeMs) + slackMs;
    const [, , until] = await this.#link.run(scripts.index, this.#keys.userSessions(userId), [id, forMs]);
    return parsed(() => wholeNumber(String(until), 'index'));
  }

  /** Removes sessions in the background. */
  remove(userId: string, ids: readonly string[]): void {
    for (let start = 0; start < ids.length; start += batchSize) {
      const batch = ids.slice(start, start + batchSize);
      this.#link.read((client) => client.zrem(this.#keys.userSessions(userId), ...batch)).catch(() => {});
    }
  }

  idsOf(userId: string): Promise<readonly string[]> {
    return this.#link.read(
      (client) => client.zrange(this.#keys.userSessions(userId), '0', '-1'),
      sessionIdsFrom,
    );
  }
}
