import type { SessionTimes } from '../sessions.ts';
import type { RedisLink } from './link.ts';
import type { Liveness } from './liveness.ts';
import { scripts } from './scripts.ts';
import { indexedFrom, parsed, usedSessionFrom } from './session-fields.ts';
import type { SessionIndex } from './session-index.ts';
import type { ListedAlive, SessionList } from './session-list.ts';
import type { SessionParts } from './session-writes.ts';

/** Number of uses counted at a time. */
const batchSize = 100;

/** Counts uses of sessions that no refresh cookie was presented for. */
export class SessionUses {
  readonly #link: RedisLink;
  readonly #liveness: Liveness;
  readonly #index: SessionIndex;
  readonly #list: SessionList;

  constructor(link: RedisLink, { liveness, index, list }: SessionParts) {
    this.#link = link;
    this.#liveness = liveness;
    this.#index = index;
    this.#list = list;
  }

  /** As {@link ../sessions.ts Sessions.noteUse}. */
  async note(uses: ReadonlyMap<string, number>, times: SessionTimes): Promise<void> {
    const all = [...uses];
    for (let start = 0; start < all.length; start += batchSize) {
      const batch = all.slice(start, start + batchSize);
      const noted = await Promise.allSettled(batch.map(([id, instant]) => this.#noteOne(id, instant, times)));
      for (const result of noted) if (result.status === 'rejected') throw result.reason;
    }
  }

  async #noteOne(id: string, instant: number, times: SessionTimes): Promise<void> {
    const { idleLifetimeMs, absoluteLifetimeMs } = times;
    let indexedUntil = 0;
    for (;;) {
      const args = [instant, idleLifetimeMs, absoluteLifetimeMs, indexedUntil];
      const [outcome, now, fields] = await this.#link.run(scripts.noteUse, this.#link.keys.session(id), args);
      if (outcome === 'unchanged') return;
      if (outcome === 'used')
        return this.#noted(
          parsed(() => usedSessionFrom(id, fields)),
          now as number,
        );
      indexedUntil = await this.#index.add(
        id,
        parsed(() => indexedFrom(fields)),
        times,
      );
    }
  }
  async #noted(session: ListedAlive, now: number): Promise<void> {
    // A shorter lifetime configured in the meantime may have ended it just now.
    if (session.expires <= now) this.#liveness.delete(session.id);
    await this.#list.move(session);
  }
}
