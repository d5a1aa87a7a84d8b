/** The process, as far as commands see it. */
export type Terminal = Pick<NodeJS.Process, 'stdin' | 'stdout' | 'stderr' | 'env' | 'on' | 'exit'>;

/** Options of a command, as `parseArgs` of node:util takes them. */
export type OptionTypes = Readonly<
  Record<
    string,
    { readonly type: 'boolean' | 'string'; readonly multiple?: boolean; readonly short?: string }
  >
>;

/** One command: what it is called, what it takes, and what it does. */
export interface Command {
  /** One word, or two: `user add`. */
  readonly name: string;
  /** Names of what stands after the command, all required. */
  readonly operands: readonly string[];
  /** The options as people write them; empty when there are none of its own. */
  readonly synopsis: string;
  readonly summary: string;
  readonly options: OptionTypes;
  /** Resolves when it is done; rejects with {@link Failure} when it can't be. */
  readonly run: (call: Call) => Promise<void>;
}

/** One call of a command: its arguments, checked against what the command takes. */
export interface Call {
  readonly terminal: Terminal;
  /** In the order of the command's `operands`. */
  readonly operands: readonly string[];
  isSet(option: string): boolean;
  text(option: string): string | undefined;
  /** Throws Failure `usage` when the option is left out. */
  requireText(option: string): string;
  /** Every value of an option that may be repeated. */
  texts(option: string): readonly string[];
}

/** What went wrong, as the exit code tells it. */
export type FailureCode = 'failed' | 'usage' | 'configuration';

/** Exit codes by what went wrong; 0 is done. */
export const exitCodes: Readonly<Record<FailureCode, number>> = { failed: 1, usage: 2, configuration: 2 };

/**
 * A command that can't do what it was asked, thrown by whoever finds it and written in one place. The message is one
 * sentence for people; for `configuration`, the lines of its problems. Never a password, token or key.
 */
export class Failure extends Error {
  readonly code: FailureCode;

  constructor(code: FailureCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'Failure';
    this.code = code;
  }
}
