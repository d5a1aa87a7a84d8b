import { isRefusal } from '../errors.ts';
import type { Records } from '../stores/records.ts';

/**
 * Creates the test that activation is open. The store is asked until it has been closed; while it is unavailable, the test is
 * false, because no page may depend on it.
 */
export function createIsActivationOpen(records: Pick<Records, 'bootstrap'>): () => Promise<boolean> {
  let mayBeOpen = true;
  return async () => {
    if (!mayBeOpen) return false;
    try {
      mayBeOpen = (await records.bootstrap()).open;
      return mayBeOpen;
    } catch (error) {
      if (!isRefusal(error, 'store_unavailable')) throw error;
      return false;
    }
  };
}
