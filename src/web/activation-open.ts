import { isRefusal } from '../errors.ts';
import type { Records } from '../stores/records.ts';

/**
 * Creates the test that there is no administrator yet. The store is asked until there has been one; while it is unavailable, the
 * test is false, because no page may depend on it.
 */
export function createIsNew(records: Pick<Records, 'bootstrap'>): () => Promise<boolean> {
  let mayBeNew = true;
  return async () => {
    if (!mayBeNew) return false;
    try {
      mayBeNew = (await records.bootstrap()).open;
      return mayBeNew;
    } catch (error) {
      if (!isRefusal(error, 'store_unavailable')) throw error;
      return false;
    }
  };
}
