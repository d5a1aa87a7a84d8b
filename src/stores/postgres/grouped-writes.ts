import type { RecordsChange } from '../remote/change-feed.ts';
import type { Steps } from '../sql/steps.ts';
import { announceChange } from './change-log.ts';
import { formatHints, notifiedHints, parseHints } from './changes.ts';
import { asRefusal, PostgresFailure, unavailable } from './failures.ts';
import type { Session, SessionPool } from './pool.ts';
import { beginWrite, follow, inTransaction, type Progress, retryConflicts } from './transaction.ts';

export interface GroupedWritesOptions {
  /** A pool with one connection: writers wait for each other anyway, and so leave the other connections to readers. */
  readonly pool: SessionPool;
  /** The channel on which changes are notified. */
  readonly channel: string;
  /** Timeout of a whole write, including its wait for others, ms. */
  readonly timeoutMs: number;
  /** Called before writes are acknowledged with the changes that they made, or may have made; null: anything may have changed. */
  readonly onChange: (change: RecordsChange | null) => void;
}

interface Write {
  readonly steps: () => Steps<unknown>;
  /** Instant by `performance.now()` at which the write is refused if it still waits, and by which its transaction must end. */
  readonly deadline: number;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly timer: NodeJS.Timeout;
}

/** Maximum number of waiting writes, each some milliseconds of work: more would only wait until they time out. */
const maxWaiting = 128;
/** Maximum number of writes in a transaction: tens of milliseconds, during which other processes wait. */
const maxGroup = 16;

/**
 * Makes writes, serialised across all processes. Writes that arrive while another is in progress wait for it, and then share one
 * transaction, with one lock, one commit and one notification. Each happens whole or not at all, and has its own result: a write
 * that throws before it has written anything doesn't affect the others. After any other failure the transaction is rolled back,
 * and each write is made by itself; if it was the server that failed, all are refused.
 *
 * A transaction that changes what may be cached also increments the version and notifies of the change: notifications are sent on
 * commit, in the order of versions. A write that was refused with `store_unavailable` may nonetheless have happened, as the reply
 * to its COMMIT may have been lost. It is atomic, and the caller may try again.
 */
export class GroupedWrites {
  readonly #options: GroupedWritesOptions;
  #waiting: Write[] = [];
  #isWriting = false;

  constructor(options: GroupedWritesOptions) {
    this.#options = options;
  }

  /** Number of writes that wait for others. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Makes a write. Rejects with an error that its steps throw, or `store_unavailable`. The steps may be run more than once. */
  write<T>(steps: () => Steps<T>): Promise<T> {
    if (this.#waiting.length >= maxWaiting) return Promise.reject(unavailable('too many writes waiting'));
    const { timeoutMs } = this.#options;
    return new Promise<T>((resolve, reject) => {
      const write: Write = {
        steps,
        deadline: performance.now() + timeoutMs,
        resolve: (result) => resolve(result as T),
        reject,
        timer: setTimeout(() => this.#giveUp(write), timeoutMs),
      };
      this.#waiting.push(write);
      if (!this.#isWriting) void this.#writeAll();
    });
  }

  #giveUp(write: Write): void {
    const { length } = this.#waiting;
    this.#waiting = this.#waiting.filter((waiting) => waiting !== write);
    // A write that has begun ends by itself.
    if (this.#waiting.length < length) write.reject(timedOut());
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    while (this.#waiting.length > 0) {
      const group = this.#takeGroup();
      const isDone = group.length > 1 && (await this.#writeTogether(group));
      if (!isDone) for (const write of group) await this.#writeAlone(write);
    }
    this.#isWriting = false;
  }

  /** Takes the next writes off the queue, and refuses those whose deadline has passed; returns the others. */
  #takeGroup(): readonly Write[] {
    const taken = this.#waiting.splice(0, maxGroup);
    const now = performance.now();
    for (const { timer, deadline, reject } of taken) {
      clearTimeout(timer);
      if (deadline <= now) reject(timedOut());
    }
    return taken.filter(({ deadline }) => deadline > now);
  }

  /** Makes writes in one transaction. Resolves to false, with nothing written, if one of them has to be rolled back. */
  async #writeTogether(group: readonly Write[]): Promise<boolean> {
    try {
      const settlements = await this.#options.pool.use(
        (session) =>
          this.#makeAll(session, group).catch((error) => {
            if (isOfServer(error)) throw error;
            return null;
          }),
        remainingMs(group),
      );
      for (const settle of settlements ?? []) settle();
      return settlements !== null;
    } catch (error) {
      for (const { reject } of group) reject(error);
      return true;
    }
  }

  async #writeAlone(write: Write): Promise<void> {
    try {
      // The other writes of its group may have taken long.
      if (write.deadline <= performance.now()) throw timedOut();
      const [settle] = await this.#options.pool.use(
        (session) => retryConflicts(() => this.#makeAll(session, [write])),
        remainingMs([write]),
      );
      settle!();
    } catch (error) {
      write.reject(error);
    }
  }

  /**
   * Makes the writes in one transaction. Resolves to a function for each write that settles the promise of its caller, to be
   * called once the transaction has ended. Rejects when a write has to be rolled back: then none is made.
   */
  #makeAll(session: Session, group: readonly Write[]): Promise<readonly (() => void)[]> {
    return inTransaction(session, beginWrite, async () => {
      const settlements: (() => void)[] = [];
      const changes: RecordsChange[] = [];
      let hasWritten = false;
      for (const { steps, resolve, reject } of group) {
        const progress: Progress = { changes: [], hasWritten: false };
        try {
          const result = await follow(session, steps(), progress);
          settlements.push(() => resolve(result));
        } catch (error) {
          if (error instanceof PostgresFailure || progress.hasWritten) throw error;
          settlements.push(() => reject(asRefusal(error)));
          continue;
        }
        changes.push(...progress.changes);
        hasWritten ||= progress.hasWritten;
      }
      await this.#commit(session, changes, hasWritten);
      return settlements;
    });
  }

  async #commit(session: Session, changes: readonly RecordsChange[], hasWritten: boolean): Promise<void> {
    const { channel, onChange } = this.#options;
    const hints = formatHints(changes);
    if (changes.length > 0) await session.query(announceChange, [channel, hints, notifiedHints(hints)]);
    try {
      // If nothing was written there is no need to wait for the disk.
      await session.execute(hasWritten ? 'COMMIT' : 'ROLLBACK');
    } finally {
      // The reply to the COMMIT may be late, or lost, and so may be the notification.
      if (changes.length > 0) onChange(parseHints(hints));
    }
  }
}

function remainingMs(group: readonly Write[]): number {
  return Math.min(...group.map(({ deadline }) => deadline)) - performance.now();
}

const timedOut = () => unavailable('timed out waiting for other writes');

/** True if an error is about the server or the connection, not about a single write. */
function isOfServer(error: unknown): boolean {
  return error instanceof PostgresFailure && error.kind !== 'invalid' && error.kind !== 'conflict';
}
