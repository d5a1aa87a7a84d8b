import type { Command } from '../command.ts';

const text = { type: 'string' } as const;
const switched = { type: 'boolean' } as const;
const listed = { type: 'string', multiple: true } as const;

const passwordSource = 'The password is read from a prompt, or as one line from standard input';

/** The commands about users; a running gateway applies them with the next request. */
export const userCommands: readonly Command[] = [
  {
    name: 'user add',
    operands: ['NAME'],
    synopsis:
      '[--admin] [--service | --without-password | --password-hash] [--scopes "a b"] [--scope-set NAME]... [--display-name TEXT] [--email TEXT]',
    summary: 'Create a user',
    details: `${passwordSource}. --admin grants every scope.
--service is a user without a password, who can't sign in and only has API keys; --without-password is a person who is
invited, or signs in through an identity provider; --password-hash reads a hash that was made elsewhere (argon2, scrypt,
bcrypt, PBKDF2) instead of the password`,
    options: {
      admin: switched,
      service: switched,
      'without-password': switched,
      'password-hash': switched,
      scopes: text,
      'scope-set': listed,
      'display-name': text,
      email: text,
    },
    stores: 'first-start',
    run: async (call) => (await import('./user.ts')).addUser(call),
  },
  {
    name: 'user list',
    operands: [],
    synopsis: '',
    summary: 'List the users',
    options: {},
    run: async (call) => (await import('./user-list.ts')).listUsers(call),
  },
  {
    name: 'user show',
    operands: ['NAME'],
    synopsis: '',
    summary: 'Show a user, and what the user holds',
    options: {},
    run: async (call) => (await import('./user-list.ts')).showUser(call),
  },
  {
    name: 'user set',
    operands: ['NAME'],
    synopsis: '[--scopes "a b"] [--scope-set NAME]... [--display-name TEXT] [--email TEXT]',
    summary: 'Replace scopes, scope sets or the profile',
    details: `What is named is replaced as a whole, everything else stays: --scopes "" removes all own scopes, --scope-set "" all own scope
sets, and an empty text clears a field`,
    options: { scopes: text, 'scope-set': listed, 'display-name': text, email: text },
    run: async (call) => (await import('./user.ts')).setUser(call),
  },
  {
    name: 'user set-password',
    operands: ['NAME'],
    synopsis: '',
    summary: 'Set a password and end the sessions',
    details: passwordSource,
    options: {},
    run: async (call) => (await import('./user.ts')).setPassword(call),
  },
  {
    name: 'user invite',
    operands: ['NAME'],
    synopsis: '',
    summary: 'Print a token for setting a password',
    details: `The token is shown this once and counts for seven days, or until another is made: with it the user sets a password that
no one else knows`,
    options: {},
    run: async (call) => (await import('./user-invite.ts')).inviteUser(call),
  },
  {
    name: 'user unlock',
    operands: ['NAME'],
    synopsis: '',
    summary: 'Forget the failed sign-ins of a user',
    details: 'What counts against an address stays',
    options: {},
    run: async (call) => (await import('./user-unlock.ts')).unlockUser(call),
  },
  {
    name: 'user disable',
    operands: ['NAME'],
    synopsis: '',
    summary: 'End the sessions and suspend the API keys',
    options: {},
    run: async (call) => (await import('./user.ts')).disableUser(call),
  },
  {
    name: 'user enable',
    operands: ['NAME'],
    synopsis: '',
    summary: 'Allow sign-in again and reactivate the API keys',
    options: {},
    run: async (call) => (await import('./user.ts')).enableUser(call),
  },
  {
    name: 'user remove',
    operands: ['NAME'],
    synopsis: '[--keep-keys | --transfer-keys NAME]',
    summary: 'Delete a user with all sessions and API keys',
    details: '--keep-keys keeps the API keys, without an owner; --transfer-keys gives them to another user',
    options: { 'keep-keys': switched, 'transfer-keys': text },
    run: async (call) => (await import('./user.ts')).removeUser(call),
  },
  {
    name: 'user link',
    operands: ['NAME'],
    synopsis: '--provider NAME --subject SUB',
    summary: 'Let an identity at a provider sign in as the user',
    details:
      'The subject is the `sub` claim of the provider; the log line of a refused sign-in shows it as provider_subject',
    options: { provider: text, subject: text },
    run: async (call) => (await import('./user-identities.ts')).linkIdentity(call),
  },
  {
    name: 'user unlink',
    operands: ['NAME'],
    synopsis: '--provider NAME --subject SUB',
    summary: 'Unlink an identity and end the sessions',
    options: { provider: text, subject: text },
    run: async (call) => (await import('./user-identities.ts')).unlinkIdentity(call),
  },
];
