import { Refusal } from '../../errors.ts';
import { timedOutReason, within } from './timeout.ts';

/** A circuit breaker: lets calls through to a store that is known to be unavailable only at intervals. */
export type Breaker = ReturnType<typeof createBreaker>;

/** Time without calls after a failure, ms. */
const coolDownMs = 250;

/** Creates a closed breaker; `elapsed` is a clock like `performance.now()`. */
export function createBreaker({ timeoutMs, elapsed }: { timeoutMs: number; elapsed: () => number }) {
  let failedAt: number | null = null;
  let availableAt = Number.NEGATIVE_INFINITY;
  let inFlight = 0;

  const isCoolingDown = () => failedAt !== null && elapsed() - failedAt < coolDownMs;

  return {
    /** True while the breaker is cooling down, or a call is in flight that will show if the store is available again. */
    isOpen: () => isCoolingDown() || (failedAt !== null && inFlight > 0),
    /** True if the store has just been found to be unavailable, so that calling it would only waste time. */
    isCoolingDown,
    /** Instant at which the last successful call was made, by `elapsed`. */
    get availableAt(): number {
      return availableAt;
    },
    /** Makes the call; rejects when the call does, and with `store_unavailable` after the timeout. */
    async run<T>(call: () => Promise<T>): Promise<T> {
      const calledAt = elapsed();
      inFlight += 1;
      try {
        const result = await within(timeoutMs, call(), timedOut);
        availableAt = Math.max(availableAt, calledAt);
        failedAt = null;
        return result;
      } catch (error) {
        // A call made before the store was available again may fail only now.
        if (isUnavailable(error) && calledAt >= availableAt) failedAt = elapsed();
        throw error;
      } finally {
        inFlight -= 1;
      }
    },
  };
}

/** True if the error is the refusal of a call because the store is unavailable. */
export function isUnavailable(error: unknown): error is Refusal {
  return error instanceof Refusal && error.code === 'store_unavailable';
}

/** The refusal of a call to which the store didn't respond in time. */
export function timedOut(): Refusal {
  return new Refusal('store_unavailable', { cause: new Error(timedOutReason) });
}
