import { DatabaseError } from 'pg';
import { describeAddress, type PostgresAddress } from '../../config/values/postgres-address.ts';
import { Refusal } from '../../errors.ts';
import { isUnavailable } from '../remote/breaker.ts';
import { StoreOpenError } from '../store-open-error.ts';

/** Kind of a failure, which decides if its connection is kept and if the transaction is repeated. */
export type FailureKind =
  /** Our query was wrong: a violated constraint, an invalid value. */
  | 'invalid'
  /** The transaction conflicted with another one, and may be repeated. */
  | 'conflict'
  /** The server is available, but too busy. */
  | 'busy'
  /** The server is unavailable, broken, read-only, or no longer the primary. */
  | 'unavailable';

/** A failed query or connection. */
export class PostgresFailure extends Error {
  readonly kind: FailureKind;
  /** SQLSTATE; undefined when the failure was not reported by the server. */
  readonly code: string | undefined;

  constructor(kind: FailureKind, code: string | undefined, message: string) {
    super(message);
    this.name = 'PostgresFailure';
    this.kind = kind;
    this.code = code;
  }
}

/** Kinds by SQLSTATE, which takes precedence, or by its class (the first two characters); any other is `unavailable`. */
const kinds: Readonly<Record<string, FailureKind>> = {
  '22': 'invalid',
  '23': 'invalid',
  '40001': 'conflict',
  '40P01': 'conflict',
  '53': 'busy',
  '55P03': 'busy',
  '57014': 'busy',
};

/** Converts an error of pg. Of its texts only the message is kept: the server's details may quote whole rows. */
export function toFailure(error: unknown): PostgresFailure {
  if (error instanceof DatabaseError) {
    const code = error.code ?? '';
    const kind = kinds[code] ?? kinds[code.slice(0, 2)] ?? 'unavailable';
    return new PostgresFailure(kind, code, `${code} ${error.message}`);
  }
  const { code, message } = error as NodeJS.ErrnoException;
  // The error has no message when a host has several addresses and all of them failed.
  return new PostgresFailure('unavailable', undefined, message || code || 'unreachable');
}

/** Converts an error for the store's callers: to `store_unavailable` if the server failed, or its reply can't be parsed. */
export function asRefusal(error: unknown): unknown {
  // The reply could not be parsed.
  if (error instanceof TypeError || error instanceof SyntaxError)
    return unavailable(`unexpected reply: ${error.message}`);
  if (!(error instanceof PostgresFailure) || error.kind === 'invalid') return error;
  return unavailable(error.message);
}

/** The refusal of a call because the store is unavailable; `reason` holds no credential. */
export function unavailable(reason: string): Refusal {
  return new Refusal('store_unavailable', { cause: new Error(reason) });
}

/**
 * The result of `open`, for the store whose address is the value of `key`, a configuration key or an option. When the store is
 * unavailable or can't be used, it rejects with a {@link StoreOpenError} that names key, address and reason.
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
