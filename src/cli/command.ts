import type { Creation } from '../runtime/store-files.ts';

/** The part of the process that commands use. */
export type Terminal = Pick<NodeJS.Process, 'stdin' | 'stdout' | 'stderr' | 'env' | 'cwd' | 'on' | 'exit'>;

/** An option of a command. */
export interface Option {
  /** Line in the help of the command, without a full stop. */
  readonly help: string;
  /** Name of the value in the help; absent: the option is a switch. */
  readonly value?: string;
  /** True if the option may be given more than once. */
  readonly isRepeatable?: boolean;
  /** True if the option is required; the usage line then shows it without brackets. */
  readonly isRequired?: boolean;
  /** True if the option excludes the one before it; the usage line then shows `[--one | --other]`. */
  readonly isAlternative?: boolean;
  readonly short?: string;
  /** Names under which people look for the option; the message about such a one names the option. */
  readonly otherNames?: readonly string[];
}

/** Options by name. */
export type Options = Readonly<Record<string, Option>>;

/** A command: its name, its arguments, and the function that carries it out. */
export interface Command {
  /** A word, or two, such as `user add`. */
  readonly name: string;
  /** Names of the arguments after the command, if any; the last one may be in brackets, and can then be left out. */
  readonly operands?: readonly string[];
  /** Line in the overview, without a full stop. */
  readonly summary: string;
  /** A typical call, without `postern`. */
  readonly example: string;
  /** Further sentences of the help, without the last full stop. */
  readonly details?: string;
  /** Options besides the common ones, in the order of the help; default: none. */
  readonly options?: Options;
  /** `none`: the command reads no configuration. Default: it reads that of `--config`, or finds one. */
  readonly configuration?: 'none';
  /**
   * `none`: the command doesn't open the configured stores; `first-start`: it creates their files if nothing suggests an
   * earlier start. Default: it opens them, and without `--create` they must exist.
   */
  readonly stores?: 'none' | 'first-start';
  /** True if there is no result that `--json` could print. */
  readonly hasNoResult?: boolean;
  /** Resolves when the command is done; rejects with {@link Failure} if it can't be done. */
  readonly run: (call: Call) => Promise<void>;
}

/** A call of a command: its arguments, checked against those that the command accepts. */
export interface Call {
  readonly terminal: Terminal;
  /** In the order of the command's `operands`. */
  readonly operands: readonly string[];
  isSet(option: string): boolean;
  /** Says when missing files of the stores are created. */
  readonly creates: Creation;
  text(option: string): string | undefined;
  /** Throws Failure `usage` if the option is missing. */
  requireText(option: string): string;
  /** Every value of a repeatable option. */
  texts(option: string): readonly string[];
}

/** Kind of a failure, which decides the exit code. */
export type FailureCode = 'failed' | 'usage' | 'configuration';

/** Exit codes by kind of failure; 0 is success. */
export const exitCodes: Readonly<Record<FailureCode, number>> = { failed: 1, usage: 2, configuration: 2 };

/**
 * Failure of a command: thrown where it is detected, printed in one place. The message is one sentence for people, or for
 * `configuration` one line per problem. It never contains a password, token or key.
 */
export class Failure extends Error {
  readonly code: FailureCode;

  constructor(code: FailureCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'Failure';
    this.code = code;
  }
}
