import { canonicalAccountName, parseUsername } from '../credentials/account-name.ts';
import type { User } from '../stores/records.ts';
import { Failure } from './failure.ts';
import type { Workplace } from './with-stores.ts';

const nameProblems = {
  malformed_unicode: 'must be Unicode',
  too_short: 'must not be empty',
  too_long: 'must be at most 128 characters',
  control_character: 'must not contain control characters',
} as const;

/** A new user's name as it is kept; throws Failure `usage`. */
export function requireUsername(raw: string): string {
  const name = parseUsername(raw);
  if (typeof name === 'string') return name;
  throw new Failure('usage', `a user name ${nameProblems[name.problem]}`);
}

/** The user of a name, in any case; throws Failure when there is none. */
export async function requireUser({ records }: Workplace, name: string): Promise<User> {
  const found = await records.findUserByName(canonicalAccountName(name));
  if (found === undefined) throw new Failure('failed', `there is no user ${JSON.stringify(name)}`);
  return found.user;
}

/** Ends every session of the user, here and in every gateway on the store. */
export async function endSessions({ sessions, audit }: Workplace, { id }: User): Promise<void> {
  for (const session of await sessions.revokeAllOf(id))
    audit({ event: 'session_revoked', subject: id, session });
}
