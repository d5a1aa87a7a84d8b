import { passwordFault } from '../credentials/password-rules.ts';
import type { ValidationProblem } from '../errors.ts';
import { valueError } from '../input/pydantic-problems.ts';

/** Problems of a new password for that user, reported at the body's field `field`. */
export async function passwordProblems(
  password: string | null | undefined,
  username: string | null | undefined,
  field: string,
): Promise<readonly ValidationProblem[]> {
  if (typeof password !== 'string') return [];
  const fault = await passwordFault(password, username ?? null);
  return fault === undefined ? [] : [{ ...valueError(fault), loc: [field], input: null }];
}
