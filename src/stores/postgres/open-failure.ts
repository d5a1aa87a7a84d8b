import { describeAddress, type PostgresAddress } from '../../config/postgres-address.ts';
import { isUnavailable } from '../breaker.ts';
import { StoreOpenError } from '../store-open-error.ts';

/**
 * What `open` comes to, of a store that `key` of the configuration, or an option, gives the address of. Where it can't be
 * had, rejects with a {@link StoreOpenError} that names key, address and reason.
 */
export async function namingStore<T>(
  key: string,
  address: PostgresAddress,
  open: () => Promise<T>,
): Promise<T> {
  try {
    return await open();
  } catch (error) {
    const file = describeAddress(address);
    const named = `${key} ${file}`;
    if (isUnavailable(error)) throw new StoreOpenError(named, `can't be reached (${reasonOf(error)})`, error);
    if (error instanceof StoreOpenError && error.file === file)
      throw new StoreOpenError(named, error.reason, error);
    throw error;
  }
}

/** As the driver or the server says it: neither repeats a password. */
function reasonOf({ cause, code }: Error & { readonly code: string }): string {
  return cause instanceof Error ? cause.message : code;
}
