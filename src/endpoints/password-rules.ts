import { passwordFault } from '../credentials/password-rules.ts';
import type { ValidationProblem } from '../errors.ts';
import { valueError } from '../input/pydantic-problems.ts';

/** The problems of a new password in the field `field` of a body, unless it may be that user's. */
export async function passwordProblems(
  password: string | null | undefined,
  username: string | null | undefined,
  field: string,
): Promise<readonly ValidationProblem[]> {
  if (typeof password !== 'string') return [];
  const fault = await passwordFault(password, username ?? null);
  return fault === undefined ? [] : [{ ...valueError(fault), loc: [field], input: null }];
}
