import { parsePassword } from '../../credentials/passwords.ts';
import type { ValidationProblem } from '../../errors.ts';
import { valueError } from '../../input/pydantic-problems.ts';
import type { EndpointParts } from '../endpoint-parts.ts';

/** The problem of a password for a service. */
export const passwordOfService: ValidationProblem = {
  ...valueError('a service has none'),
  loc: ['password'],
  input: null,
};

/** The hash of a password of a body; null and undefined stay. */
export async function hashPassword<None extends null | undefined>(
  { passwords, minPasswordLength }: Pick<EndpointParts, 'passwords' | 'minPasswordLength'>,
  raw: string | None,
): Promise<string | None> {
  return typeof raw === 'string' ? passwords.hash(parsePassword(raw, minPasswordLength) as string) : raw;
}
