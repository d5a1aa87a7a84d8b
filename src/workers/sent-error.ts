import type { Finding } from '../config/report/problems.ts';
import { Refusal, type RefusalCode } from '../errors.ts';
import { ManagedProblems } from '../runtime/managed-configuration.ts';

/** An error as it travels between processes: what the command line makes its sentence and exit code of. */
export interface SentError {
  readonly kind: 'error' | 'refusal' | 'managed';
  readonly message: string;
  readonly stack?: string | undefined;
  /** Those of Node's errors, where they are there. */
  readonly details: Readonly<Record<string, unknown>>;
  /** Of `managed`. */
  readonly findings?: readonly Finding[];
  /** The code of what caused it. */
  readonly causeCode?: string | undefined;
}

const detailNames = ['code', 'syscall', 'address', 'port', 'path', 'errno'] as const;

/** What is kept of an error. */
export function toSent(error: unknown): SentError {
  if (!(error instanceof Error)) return { kind: 'error', message: String(error), details: {} };
  const fields = error as Error & Partial<Record<(typeof detailNames)[number], unknown>>;
  const details = Object.fromEntries(
    detailNames.filter((name) => fields[name] !== undefined).map((name) => [name, fields[name]]),
  );
  const { message, stack } = error;
  const causeCode = (error.cause as NodeJS.ErrnoException | undefined)?.code;
  const sent = { message, stack, details, causeCode };
  if (error instanceof ManagedProblems) return { ...sent, kind: 'managed', findings: error.findings };
  return { ...sent, kind: error instanceof Refusal ? 'refusal' : 'error' };
}

/** The error that was sent. */
export function fromSent({ kind, message, stack, details, findings, causeCode }: SentError): Error {
  const cause =
    causeCode === undefined ? undefined : Object.assign(new Error(causeCode), { code: causeCode });
  switch (kind) {
    case 'managed':
      return new ManagedProblems(findings ?? []);
    case 'refusal':
      return new Refusal(details.code as RefusalCode, cause === undefined ? {} : { cause });
    case 'error':
      return Object.assign(new Error(message, cause === undefined ? {} : { cause }), details, { stack });
  }
}
