import { canonicalAccountName } from '../rules/account-name.ts';
import { isCommonPassword } from './common-passwords.ts';

/** Why a password of the right length may not be set; undefined: it may. `username`: null where none is known. */
export function passwordFault(password: string, username: string | null): string | undefined {
  const canonical = canonicalAccountName(password);
  if (username !== null && canonical === canonicalAccountName(username)) return 'must not be the user name';
  return isCommonPassword(canonical) ? 'must not be a common password' : undefined;
}
