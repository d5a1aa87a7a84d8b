import { maxUsernameCodePoints } from './text-limits.ts';

/** A reason why a text can't be a user name. */
export interface AccountNameProblem {
  readonly problem: 'malformed_unicode' | 'too_short' | 'too_long' | 'control_character';
}

/** The broken rule of each problem, as the end of a sentence about the name. */
export const accountNameRules = {
  malformed_unicode: 'must be Unicode',
  too_short: 'must not be empty',
  too_long: `must be at most ${maxUsernameCodePoints} characters`,
  control_character: 'must not contain control characters',
} as const satisfies Record<AccountNameProblem['problem'], string>;

/**
 * The longest canonical form of a name, in UTF-16 units: NFKC turns one code point into up to 18. Anything longer names
 * no account and is never normalised: sorting a long run of combining marks takes quadratic time.
 */
const maxCanonicalLength = maxUsernameCodePoints * 18;

/** A user name as it is stored and shown: NFC, trimmed, 1-128 code points, no control characters; else the problem. */
export function parseUsername(raw: string): string | AccountNameProblem {
  if (!raw.isWellFormed()) return { problem: 'malformed_unicode' };
  const trimmed = raw.trim();
  if (trimmed.length > maxCanonicalLength) return { problem: 'too_long' };
  const name = trimmed.normalize('NFC');
  const codePoints = [...name].length;
  if (codePoints === 0) return { problem: 'too_short' };
  if (codePoints > maxUsernameCodePoints) return { problem: 'too_long' };
  if (/\p{Cc}/u.test(name)) return { problem: 'control_character' };
  return name;
}

/**
 * The form in which account names are looked up, compared and throttled: NFKC, lower case, outer spaces trimmed; idempotent.
 * Takes any text; one too long to name an account is trimmed and otherwise unchanged.
 */
export function canonicalAccountName(raw: string): string {
  const trimmed = raw.trim();
  if (trimmed.length > maxCanonicalLength) return trimmed;
  // Folded both ways, for letters that differ in one case only (final sigma, sharp s). Normalised again after folding: J
  // with a caron has a composed small letter but no composed capital.
  return trimmed.normalize('NFKC').toLowerCase().toUpperCase().toLowerCase().normalize('NFKC').trim();
}
