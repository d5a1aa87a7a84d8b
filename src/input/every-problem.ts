import { ValidationError, type ValidationProblem } from '../errors.ts';

/**
 * Runs both readers and resolves to their results. Rejects with one {@link ValidationError} for the problems of query and body
 * together, in that order, or with any other error of a reader.
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
