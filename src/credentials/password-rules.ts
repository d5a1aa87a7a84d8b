import { canonicalAccountName } from '../rules/account-name.ts';
import { isCommonPassword } from './common-passwords.ts';

/** The fault of a password that is its user's name. */
export const passwordIsName = 'must not be the user name';

/** The fault of a password of the right length; undefined: there is none. `username`: null where none is known. */
export async function passwordFault(password: string, username: string | null): Promise<string | undefined> {
  if (username !== null && isUserName(password, username)) return passwordIsName;
  return (await isCommonPassword(canonicalAccountName(password)))
    ? 'must not be a common password'
    : undefined;
}

/** True if a password is the user's name, whatever its case, spelling and outer spaces. */
export function isUserName(password: string, username: string): boolean {
  return canonicalAccountName(password) === canonicalAccountName(username);
}
