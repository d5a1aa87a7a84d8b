import { z } from 'zod';
import { isEmailAddress, maxEmailLength } from '../../rules/email-address.ts';
import { parsePasswordHash, passwordHashRule } from '../../rules/password-hash.ts';
import { mapByName, secret, text } from '../values/scalars.ts';
import { scopeList } from '../values/scope-names.ts';

// Rules for names are in managed-rules.ts: a pattern in the JSON Schema could not express them for validators in other languages.
const anyName = /^[^\0]+$/;
const maxDescription = 1024;
const maxTextLength = 256;

/** A one-line text for people, of at most `max` code points. */
function shortText(max: number) {
  return text((value) =>
    [...value].length > max || /\p{Cc}/u.test(value)
      ? `must have at most ${max} characters, none of them a control character`
      : undefined,
  );
}

const adopt = (what: string) =>
  z
    .boolean()
    .prefault(false)
    .describe(`Take over an existing ${what} of that name, which is a problem otherwise.`);

const scopeSet = z.strictObject({
  description: z
    .string()
    .refine((value) => [...value].length <= maxDescription, {
      error: `must have at most ${maxDescription} characters`,
    })
    .refine((value) => /^(?:[\r\n]|\P{Cc})*$/u.test(value), {
      error: 'must have no control characters other than line ends',
    })
    .prefault('')
    .describe('What the set is for, for people.'),
  scopes: scopeList().describe('Scopes of the catalogue.'),
  adopt: adopt('set'),
});

/** `scope_sets`: the scope sets that the configuration manages. */
export const scopeSets = mapByName(
  anyName,
  'must not contain control characters',
  scopeSet,
  // Built in.
  { reserved: ['administrator'] },
)
  .prefault({})
  .describe('Scope sets that the configuration manages, by name; nothing else can change them.');

const user = z.strictObject({
  display_name: shortText(maxTextLength).optional().describe('Name for people.'),
  email: text((value) =>
    isEmailAddress(value) ? undefined : `must be one e-mail address of at most ${maxEmailLength} characters`,
  )
    .optional()
    .describe('E-mail address.'),
  kind: z
    .enum(['person', 'service'])
    .prefault('person')
    .describe('A service has no password, can’t sign in and only has API keys.'),
  scopes: scopeList().prefault([]).describe('Scopes of the catalogue.'),
  scope_sets: z
    .array(text())
    .prefault([])
    .describe('Names of scope sets of this configuration, or administrator.'),
  password_hash: secret((value) => (parsePasswordHash(value) === undefined ? passwordHashRule : undefined))
    .optional()
    .describe(
      'Hash of the password: argon2, scrypt, bcrypt or PBKDF2, renewed at the next sign-in; if omitted, the configuration sets none.',
    ),
  adopt: adopt('user'),
});

/** `users`: the users that the configuration manages. */
export const users = mapByName(anyName, 'must not contain control characters', user)
  .prefault({})
  .describe(
    'Users that the configuration manages, by user name; nothing else can change them, and a user removed here is disabled.',
  );
