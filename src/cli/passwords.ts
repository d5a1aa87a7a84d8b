import type { Config } from '../config/schema.ts';
import { createPasswordHasher, parsePassword } from '../credentials/passwords.ts';
import type { Call } from './command.ts';
import { Failure } from './failure.ts';
import { readPassword } from './read-password.ts';

/** Reads a new password, judges it and gives its hash; throws Failure. */
export async function readPasswordHash({ terminal }: Call, { passwords }: Config): Promise<string> {
  const hasher = createPasswordHasher({ ...passwords, memoryBytes: passwords.memory });
  return hasher.hash(await readPassword(terminal, (raw) => requirePassword(raw, passwords.min_length)));
}

function requirePassword(raw: string, minLength: number): string {
  const password = parsePassword(raw, minLength);
  if (typeof password === 'string') return password;
  const problems = {
    malformed_unicode: 'must be Unicode',
    too_short: `must have at least ${minLength} characters`,
    too_long: 'must have at most 1024 bytes',
  } as const;
  throw new Failure('failed', `the password ${problems[password.problem]}`);
}
