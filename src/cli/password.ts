import type { Config } from '../config/sections/schema.ts';
import { passwordFault } from '../credentials/password-rules.ts';
import { createPasswordHasher, parsePassword } from '../credentials/passwords.ts';
import { parsePasswordHash, passwordHashRule } from '../rules/password-hash.ts';
import { maxPasswordBytes } from '../rules/text-limits.ts';
import { type Call, Failure } from './command.ts';
import { readPassword, readSecret } from './terminal.ts';

/** Reads a new password for that user and resolves to its hash; rejects with Failure if the password is refused. */
export async function readNewPassword(
  { terminal }: Call,
  { passwords }: Config,
  username: string,
): Promise<string> {
  const hasher = createPasswordHasher({ ...passwords, memoryBytes: passwords.memory });
  return hasher.hash(
    await readPassword(terminal, (raw) => requirePassword(raw, passwords.min_length, username)),
  );
}

/** Reads a password hash that was made elsewhere; rejects with Failure if it is malformed. */
export async function readPasswordHash({ terminal }: Call): Promise<string> {
  const hash = (await readSecret(terminal, 'Password hash: ')).trim();
  if (parsePasswordHash(hash) === undefined)
    throw new Failure('failed', `the password hash ${passwordHashRule}`);
  return hash;
}

async function requirePassword(raw: string, minLength: number, username: string): Promise<string> {
  const password = parsePassword(raw, minLength);
  if (typeof password === 'string') {
    const fault = await passwordFault(password, username);
    if (fault === undefined) return password;
    throw new Failure('failed', `the password ${fault}`);
  }
  const problems = {
    malformed_unicode: 'must be Unicode',
    too_short: `must have at least ${minLength} characters`,
    too_long: `must have at most ${maxPasswordBytes} bytes`,
  } as const;
  throw new Failure('failed', `the password ${problems[password.problem]}`);
}
