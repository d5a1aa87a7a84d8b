import { DatabaseError } from 'pg';
import { Refusal } from '../../errors.ts';

/** What a failure says of the connection and of the server. */
export type FailureKind =
  /** We asked something wrong: a broken constraint, a value that is none. */
  | 'mistake'
  /** It lost against another transaction, and may be tried again. */
  | 'conflict'
  /** The server is there, but too busy. */
  | 'busy'
  /** The server is away, broken, read-only, or not the one to ask any more. */
  | 'gone';

/** A failed query or connection. */
export class PostgresFailure extends Error {
  readonly kind: FailureKind;
  /** SQLSTATE; undefined when it was not the server that said so. */
  readonly code: string | undefined;

  constructor(kind: FailureKind, code: string | undefined, message: string) {
    super(message);
    this.name = 'PostgresFailure';
    this.kind = kind;
    this.code = code;
  }
}

/** By SQLSTATE or its class, the longer one first; anything else is `gone`. */
const kinds: Readonly<Record<string, FailureKind>> = {
  '22': 'mistake',
  '23': 'mistake',
  '40001': 'conflict',
  '40P01': 'conflict',
  '53': 'busy',
  '55P03': 'busy',
  '57014': 'busy',
};

/** What pg threw, as a failure of ours. Its text alone is kept: what else the server says may quote whole rows. */
export function toFailure(error: unknown): PostgresFailure {
  if (error instanceof DatabaseError) {
    const code = error.code ?? '';
    const kind = kinds[code] ?? kinds[code.slice(0, 2)] ?? 'gone';
    return new PostgresFailure(kind, code, `${code} ${error.message}`);
  }
  const { code, message } = error as NodeJS.ErrnoException;
  // Several addresses of one host that all failed have no message of their own.
  return new PostgresFailure('gone', undefined, message || code || 'it could not be reached');
}

/** What callers of the store are given: `store_unavailable`, unless the mistake was ours. */
export function asRefusal(error: unknown): unknown {
  // What it answered could not be read.
  if (error instanceof TypeError || error instanceof SyntaxError)
    return unavailable(`a wrong answer: ${error.message}`);
  if (!(error instanceof PostgresFailure) || error.kind === 'mistake') return error;
  return unavailable(error.message);
}

/** The refusal of a call that the store could not be had for; `reason` holds no credential. */
export function unavailable(reason: string): Refusal {
  return new Refusal('store_unavailable', { cause: new Error(reason) });
}
