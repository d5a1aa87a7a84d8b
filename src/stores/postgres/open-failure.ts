import { describeAddress, type PostgresAddress } from '../../config/values/postgres-address.ts';
import { isUnavailable } from '../remote/breaker.ts';
import { StoreOpenError } from '../store-open-error.ts';

/**
 * The result of `open`, for the store whose address is the value of `key`, a configuration key or an option. On
 * failure it rejects with a {@link StoreOpenError} that names key, address and reason.
 */
export async function withStoreName<T>(
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

/** The reason in the words of the driver or the server: neither repeats a password. */
function reasonOf({ cause, code }: Error & { readonly code: string }): string {
  return cause instanceof Error ? cause.message : code;
}
