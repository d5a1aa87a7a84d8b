import type { Creation } from '../runtime/store-files.ts';

/** The process, as far as commands use it. */
export type Terminal = Pick<NodeJS.Process, 'stdin' | 'stdout' | 'stderr' | 'env' | 'on' | 'exit'>;

/** Options of a command, in the form of node:util's `parseArgs`. */
export type OptionTypes = Readonly<
  Record<
    string,
    { readonly type: 'boolean' | 'string'; readonly multiple?: boolean; readonly short?: string }
  >
>;

/** One command: its name, its arguments, and what it does. */
export interface Command {
  /** One word, or two: `user add`. */
  readonly name: string;
  /** Names of the arguments after the command; one in brackets, which comes last, may be left out. */
  readonly operands: readonly string[];
  /** How the options are written in the usage line; empty if it has none of its own. */
  readonly synopsis: string;
  /** One line of the overview. */
  readonly summary: string;
  /** Further sentences for its own help. */
  readonly details?: string;
  readonly options: OptionTypes;
  /** Whether it works without a configuration, or without a file. Default: it needs `--config FILE`. */
  readonly configuration?: 'none' | 'optional';
  /**
   * Whether it opens the configured stores, and may be the first to: then it makes their files if nothing suggests an
   * earlier start. Default: it opens them, and without `--create` they must exist.
   */
  readonly stores?: 'none' | 'first-start';
  /** Resolves when it is done; rejects with {@link Failure} if it can't be done. */
  readonly run: (call: Call) => Promise<void>;
}

/** One call of a command: its arguments, checked against what the command accepts. */
export interface Call {
  readonly terminal: Terminal;
  /** In the order of the command's `operands`. */
  readonly operands: readonly string[];
  isSet(option: string): boolean;
  /** Whether the files of stores that are missing are made. */
  readonly creates: Creation;
  text(option: string): string | undefined;
  /** Throws Failure `usage` if the option is missing. */
  requireText(option: string): string;
  /** Every value of an option that may be repeated. */
  texts(option: string): readonly string[];
}

/** What kind of failure it is; it decides the exit code. */
export type FailureCode = 'failed' | 'usage' | 'configuration';

/** Exit codes by kind of failure; 0 is success. */
export const exitCodes: Readonly<Record<FailureCode, number>> = { failed: 1, usage: 2, configuration: 2 };

/**
 * A command that failed: thrown by the code that detects it, written in one place. The message is one sentence for people,
 * or for `configuration` one line per problem. It never contains a password, token or key.
 */
export class Failure extends Error {
  readonly code: FailureCode;

  constructor(code: FailureCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'Failure';
    this.code = code;
  }
}
