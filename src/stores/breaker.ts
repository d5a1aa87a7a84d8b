import { Refusal } from '../errors.ts';
import { notInTime, within } from './timeout.ts';

/** Keeps questions from a store that is known to be away, but for one now and then. */
export interface Breaker {
  /** Whether it is resting, or somebody is finding out whether the store is back. */
  isOpen(): boolean;
  /** Whether it was just found to be away, so that asking it would only cost time. */
  isResting(): boolean;
  /** Asks, within the time-out. Rejects `store_unavailable` when the store does. */
  run<T>(ask: () => Promise<T>): Promise<T>;
}

export interface BreakerOptions {
  readonly timeoutMs: number;
  /** A clock as `performance.now()`. */
  readonly elapsed: () => number;
}

/** How long nobody asks after a failure, ms. */
const restMs = 250;

/** Creates a closed one. */
export function createBreaker({ timeoutMs, elapsed }: BreakerOptions): Breaker {
  let failedAt: number | null = null;
  let asking = 0;

  const isResting = () => failedAt !== null && elapsed() - failedAt < restMs;

  return {
    isOpen: () => isResting() || (failedAt !== null && asking > 0),
    isResting,
    async run(ask) {
      asking += 1;
      try {
        const result = await within(timeoutMs, ask(), timedOut);
        failedAt = null;
        return result;
      } catch (error) {
        if (isUnavailable(error)) failedAt = elapsed();
        throw error;
      } finally {
        asking -= 1;
      }
    },
  };
}

/** Whether it says that the store can't be had. */
export function isUnavailable(error: unknown): error is Refusal {
  return error instanceof Refusal && error.code === 'store_unavailable';
}

/** What whoever asked is told when the store took too long. */
export function timedOut(): Refusal {
  return new Refusal('store_unavailable', { cause: new Error(notInTime) });
}
