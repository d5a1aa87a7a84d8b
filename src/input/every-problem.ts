import { ValidationError, type ValidationProblem } from '../errors.ts';

/**
 * Resolves to what both readers give; for a request whose query and body are both malformed, reports both at once, in
 * that order. Rejects with {@link ValidationError}, or whatever else a reader throws.
 */
export async function everyProblem<A, B>(first: () => A, second: () => Promise<B>): Promise<[A, B]> {
  const problems: ValidationProblem[] = [];
  const results = [await collect(async () => first(), problems), await collect(second, problems)];
  if (problems.length > 0) throw new ValidationError(problems);
  return results as [A, B];
}

async function collect<T>(read: () => Promise<T>, problems: ValidationProblem[]): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    problems.push(...error.problems);
    return undefined;
  }
}
