import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../config/sections/schema.ts';
import { describeAddress } from '../config/values/postgres-address.ts';
import { isUnavailable } from '../stores/remote/breaker.ts';
import { StoreOpenError } from '../stores/store-open-error.ts';

/** How often a step is tried again, ms. */
const retryDelayMs = 250;

/** Runs one step of a start, again from its beginning while a store is unavailable. */
export type RunStep = <T>(step: () => Promise<T>) => Promise<T>;

/**
 * Steps that need an open records store, which may go again: then they wait for it, as its opening does, until `timeoutMs`
 * after now. A step rejects with what it threw; with {@link StoreOpenError}, which names the store, if that is unavailable
 * at the end.
 */
export function createStartSteps({ stores: { records } }: Config, timeoutMs: number): RunStep {
  const deadline = performance.now() + timeoutMs;
  return async (step) => {
    for (;;) {
      try {
        return await step();
      } catch (error) {
        if (!isUnavailable(error)) throw error;
        if (performance.now() > deadline) {
          const name =
            records.kind === 'sqlite' ? records.path : `stores.records ${describeAddress(records)}`;
          const reason = error.cause instanceof Error ? error.cause.message : error.code;
          throw new StoreOpenError(name, `can't be reached (${reason})`, error);
        }
        await sleep(retryDelayMs);
      }
    }
  };
}
