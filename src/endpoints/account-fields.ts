import { z } from 'zod';
import { parsePassword } from '../credentials/passwords.ts';
import { withoutControlCharacters } from '../input/pydantic-types.ts';
import { parseUsername } from '../rules/account-name.ts';
import { maxPasswordBytes, maxUsernameCodePoints } from '../rules/text-limits.ts';

/** Schema of a user name as clients send it; {@link parseUsername} turns it into the stored name. */
export function newUsername() {
  return z
    .string()
    .check(({ value, issues }) => {
      const name = parseUsername(value);
      if (typeof name === 'string') return;
      const issue = { origin: 'string', input: value } as const;
      if (name.problem === 'too_short') issues.push({ code: 'too_small', minimum: 1, ...issue });
      else if (name.problem === 'too_long')
        issues.push({ code: 'too_big', maximum: maxUsernameCodePoints, ...issue });
      else issues.push({ code: 'custom', message: 'must not contain control characters', input: value });
    })
    .meta({
      minLength: 1,
      maxLength: maxUsernameCodePoints,
      pattern: withoutControlCharacters.source,
      description: 'Outer white space is trimmed.',
    });
}

/** Schema of a password as clients send it; {@link parsePassword} turns it into the text that is hashed. */
export function newPassword(minLength: number) {
  return z
    .string()
    .check(({ value, issues }) => {
      const password = parsePassword(value, minLength);
      if (typeof password === 'string') return;
      const issue = { origin: 'string', input: value } as const;
      if (password.problem === 'too_short') issues.push({ code: 'too_small', minimum: minLength, ...issue });
      else if (password.problem === 'too_long')
        issues.push({ code: 'too_big', maximum: maxPasswordBytes, ...issue });
      else issues.push({ code: 'custom', message: 'must be well-formed Unicode', input: value });
    })
    .meta({
      minLength,
      format: 'password',
      description: 'At least `passwords.min_length` characters (default 12), at most 1,024 bytes of UTF-8.',
    });
}
