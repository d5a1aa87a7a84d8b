import { maxUsernameCodePoints } from '../rules/text-limits.ts';

/** Why a text can't be a user name. */
export interface AccountNameProblem {
  readonly problem: 'malformed_unicode' | 'too_short' | 'too_long' | 'control_character';
}

/**
 * The longest canonical form of a name, in UTF-16 units: NFKC makes up to 18 of one code point. What is longer names
 * nobody, and is never normalised: sorting a long run of combining marks takes time in the square of its length.
 */
const maxCanonicalLength = maxUsernameCodePoints * 18;

/** A user name as it is kept and shown: NFC, trimmed, 1-128 code points, no control characters; else the problem. */
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
 * The form by which an account is looked up, unique and throttled: NFKC, lower case, outer spaces trimmed; idempotent.
 * Takes any text; one too long to name an account comes back trimmed and otherwise as it stands.
 */
export function canonicalAccountName(raw: string): string {
  const trimmed = raw.trim();
  if (trimmed.length > maxCanonicalLength) return trimmed;
  // There and back, for letters that differ in one case alone (final sigma, sharp s). Normalised again after folding: J
  // with a caron has no composed capital, but a composed small letter.
  return trimmed.normalize('NFKC').toLowerCase().toUpperCase().toLowerCase().normalize('NFKC').trim();
}
