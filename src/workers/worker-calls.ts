import { ManagedProblems } from '../administration/managed.ts';
import type { Finding } from '../config/report/problems.ts';
import { Refusal, type RefusalCode } from '../errors.ts';
import type { MetricSnapshot } from '../metrics/registry.ts';
import type { RemovedCount } from '../runtime/removed-headers.ts';
import type { WorkerFunctions } from './worker-api.ts';

/** A message of the supervisor: a call of a function of the worker. */
export interface Call {
  readonly call: number;
  readonly name: keyof WorkerFunctions;
  readonly args: readonly unknown[];
}

/** A message of a worker: the response to a call, the sign that the worker can be called, its counts, or removed headers. */
export type WorkerMessage =
  | { readonly response: number; readonly value: unknown }
  | { readonly response: number; readonly error: SentError }
  | { readonly loaded: true }
  | { readonly counted: readonly MetricSnapshot[] }
  | { readonly removed: readonly RemovedCount[] };

/** An error as sent between processes, with everything that determines the command line's message and exit code. */
interface SentError {
  readonly kind: 'error' | 'refusal' | 'managed';
  readonly message: string;
  /** Members of Node's errors, and the stack. */
  readonly details: Readonly<Record<string, unknown>>;
  /** Findings of an error of kind `managed`. */
  readonly findings: readonly Finding[];
  /** Code of the cause. */
  readonly causeCode: string | undefined;
}

/** Calls of one worker's functions that have no response yet. */
export class PendingCalls {
  readonly #send: (call: Call) => void;
  readonly #pending = new Map<number, { resolve(value: never): void; reject(error: Error): void }>();
  #last = 0;
  #closedBy: Error | null = null;

  constructor(send: (call: Call) => void) {
    this.#send = send;
  }

  /** Calls a function; rejects with its error, or once the calls are closed. */
  call<Name extends keyof WorkerFunctions>(
    name: Name,
    ...args: Parameters<WorkerFunctions[Name]>
  ): Promise<Awaited<ReturnType<WorkerFunctions[Name]>>> {
    if (this.#closedBy !== null) return Promise.reject(this.#closedBy);
    const call = ++this.#last;
    return new Promise((resolve, reject) => {
      this.#pending.set(call, { resolve, reject });
      this.#send({ call, name, args });
    });
  }

  /** Settles the call that a response belongs to. */
  settle(message: Extract<WorkerMessage, { response: number }>): void {
    const pending = this.#pending.get(message.response);
    this.#pending.delete(message.response);
    if ('error' in message) pending?.reject(fromSent(message.error));
    else pending?.resolve(message.value as never);
  }

  /** Rejects the calls that have no response yet, and all later ones. */
  close(error: Error): void {
    this.#closedBy = error;
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
  }
}

/** Calls a function for the supervisor; resolves to the response. */
export async function respondTo(
  functions: WorkerFunctions,
  { call, name, args }: Call,
): Promise<WorkerMessage> {
  try {
    const value = await (functions[name] as (...args: readonly unknown[]) => unknown).apply(functions, [
      ...args,
    ]);
    return { response: call, value };
  } catch (error) {
    return { response: call, error: toSent(error) };
  }
}

const detailNames = ['code', 'syscall', 'address', 'port', 'path', 'errno', 'stack'] as const;

function toSent(thrown: unknown): SentError {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const fields = error as Error & Readonly<Record<string, unknown>>;
  const isManaged = error instanceof ManagedProblems;
  return {
    kind: isManaged ? 'managed' : error instanceof Refusal ? 'refusal' : 'error',
    message: error.message,
    details: Object.fromEntries(
      detailNames.filter((name) => fields[name] !== undefined).map((name) => [name, fields[name]]),
    ),
    findings: isManaged ? error.findings : [],
    causeCode: (error.cause as NodeJS.ErrnoException | undefined)?.code,
  };
}

function fromSent({ kind, message, details, findings, causeCode }: SentError): Error {
  const cause =
    causeCode === undefined ? {} : { cause: Object.assign(new Error(causeCode), { code: causeCode }) };
  switch (kind) {
    case 'managed':
      return new ManagedProblems(findings);
    case 'refusal':
      return new Refusal(details.code as RefusalCode, cause);
    case 'error':
      return Object.assign(new Error(message, cause), details);
  }
}
