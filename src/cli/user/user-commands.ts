import type { Command } from '../command.ts';

const passwordSource = 'The password is read from a prompt, or as one line from standard input';
const scopes = { value: '"a b"', help: "the user's own scopes, separated by spaces" };
const scopeSet = { value: 'NAME', isRepeatable: true, help: 'scope set that the user holds' };
const profile = {
  'display-name': { value: 'TEXT', help: 'name to show' },
  email: { value: 'TEXT', help: 'address of the user' },
};
const identity = {
  provider: { value: 'NAME', isRequired: true, help: 'identity provider of the configuration' },
  subject: {
    value: 'SUB',
    isRequired: true,
    help: 'sub claim of the provider; the log line of a refused sign-in shows it as provider_subject',
  },
};

/** Commands about users; a running gateway applies them with the next request. */
export const userCommands: readonly Command[] = [
  {
    name: 'user add',
    operands: ['NAME'],
    summary: 'Create a user',
    example: 'user add ada --admin --display-name "Ada Lovelace"',
    details: passwordSource,
    options: {
      admin: { help: 'grant every scope' },
      service: { help: "make a user without a password, who can't sign in and only has API keys" },
      'without-password': {
        isAlternative: true,
        help: 'make a person who is invited, or signs in through an identity provider',
      },
      'password-hash': {
        isAlternative: true,
        help: 'read a hash made elsewhere (argon2, scrypt, bcrypt, PBKDF2) instead of the password',
      },
      scopes,
      'scope-set': scopeSet,
      ...profile,
    },
    stores: 'first-start',
    run: async (call) => (await import('./user.ts')).addUser(call),
  },
  {
    name: 'user list',
    summary: 'List the users',
    example: 'user list --json',
    run: async (call) => (await import('./user-list.ts')).listUsers(call),
  },
  {
    name: 'user show',
    operands: ['NAME'],
    summary: 'Show a user with effective scopes',
    example: 'user show ada',
    run: async (call) => (await import('./user-list.ts')).showUser(call),
  },
  {
    name: 'user set',
    operands: ['NAME'],
    summary: 'Replace scopes, scope sets or the profile',
    example: 'user set ada --scopes "access stock:read"',
    details: `Each option replaces the whole; everything else stays. --scopes "" removes all own scopes, --scope-set "" all own scope
sets, and an empty text clears a field`,
    options: {
      admin: { help: 'grant every scope, besides what the user holds' },
      scopes,
      'scope-set': scopeSet,
      ...profile,
    },
    run: async (call) => (await import('./user.ts')).setUser(call),
  },
  {
    name: 'user set-password',
    operands: ['NAME'],
    summary: 'Set a password and end the sessions',
    example: 'user set-password ada',
    details: passwordSource,
    run: async (call) => (await import('./user.ts')).setPassword(call),
  },
  {
    name: 'user invite',
    operands: ['NAME'],
    summary: 'Print an address for setting a password',
    example: 'user invite grace',
    details: `There the user sets a password that no one else knows; without web in the configuration it is a token for POST
/api/login/invitation (api_path in place of /api). It is shown this once and is valid for seven days, or until another is made`,
    run: async (call) => (await import('./user.ts')).inviteUser(call),
  },
  {
    name: 'user unlock',
    operands: ['NAME'],
    summary: 'Forget the failed sign-ins of a user',
    example: 'user unlock ada',
    details: 'Failures counted against an address stay',
    run: async (call) => (await import('./user.ts')).unlockUser(call),
  },
  {
    name: 'user disable',
    operands: ['NAME'],
    summary: 'End the sessions and suspend the API keys',
    example: 'user disable grace',
    run: async (call) => (await import('./user.ts')).disableUser(call),
  },
  {
    name: 'user enable',
    operands: ['NAME'],
    summary: 'Allow sign-in again and reactivate the API keys',
    example: 'user enable grace',
    run: async (call) => (await import('./user.ts')).enableUser(call),
  },
  {
    name: 'user remove',
    operands: ['NAME'],
    summary: 'Delete a user with all sessions and API keys',
    example: 'user remove grace --transfer-keys ada',
    options: {
      'keep-keys': { help: 'keep the API keys, without an owner' },
      'transfer-keys': { value: 'NAME', isAlternative: true, help: 'give the API keys to this user' },
    },
    run: async (call) => (await import('./user.ts')).removeUser(call),
  },
  {
    name: 'user link',
    operands: ['NAME'],
    summary: 'Let an identity at a provider sign in as the user',
    example: 'user link grace --provider google --subject 248289761001',
    options: identity,
    run: async (call) => (await import('./user-identities.ts')).linkIdentity(call),
  },
  {
    name: 'user unlink',
    operands: ['NAME'],
    summary: 'Unlink an identity and end the sessions',
    example: 'user unlink grace --provider google --subject 248289761001',
    options: identity,
    run: async (call) => (await import('./user-identities.ts')).unlinkIdentity(call),
  },
];
