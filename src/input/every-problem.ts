import { ValidationError, type ValidationProblem } from '../errors.ts';

/**
 * Returns what both readers return; for a request whose query and body are both malformed, reports both at once, in
 * that order. Throws {@link ValidationError}, or whatever else a reader throws.
 */
export function everyProblem<A, B>(first: () => A, second: () => B): [A, B] {
  const problems: ValidationProblem[] = [];
  const results = [collect(first, problems), collect(second, problems)];
  if (problems.length > 0) throw new ValidationError(problems);
  return results as [A, B];
}

function collect<T>(read: () => T, problems: ValidationProblem[]): T | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    problems.push(...error.problems);
    return undefined;
  }
}
