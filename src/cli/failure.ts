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
