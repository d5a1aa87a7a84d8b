import type { Command } from './command.ts';
import { firstSignal, printResult } from './terminal.ts';

const text = { type: 'string' } as const;
const switched = { type: 'boolean' } as const;
const listed = { type: 'string', multiple: true } as const;

/** Every command. What one needs is loaded when it is called: help is there at once, and signals are heard early. */
export const commands: readonly Command[] = [
  {
    name: 'serve',
    operands: [],
    synopsis: '[--quickstart]',
    summary: 'Run the gateway until SIGTERM or SIGINT; with --quickstart, show lines to try it with',
    options: { quickstart: switched },
    run: async (call) => {
      const stopAsked = firstSignal(call.terminal);
      await (await import('./serve.ts')).serve(call, stopAsked);
    },
  },
  {
    name: 'check',
    operands: [],
    synopsis: '',
    summary: 'Report every problem of the configuration',
    options: {},
    run: async (call) => (await import('./configuration.ts')).check(call),
  },
  {
    name: 'openapi',
    operands: [],
    synopsis: '',
    summary: 'Print the OpenAPI document; needs no configuration',
    options: {},
    run: async (call) => {
      const document = (await import('../openapi/document.ts')).openApiDocument();
      await printResult(call, document, JSON.stringify(document, null, 2));
    },
  },
  {
    name: 'backup',
    operands: ['FILE'],
    synopsis: '',
    summary: 'Copy the records to a new file, also while the gateway serves',
    options: {},
    run: async (call) => (await import('./records.ts')).backup(call),
  },
  {
    name: 'records copy',
    operands: [],
    synopsis: '[--from ADDRESS] [--to ADDRESS]',
    summary:
      'Copy all records to an empty place; the address left out is stores.records of the configuration',
    options: { from: text, to: text },
    run: async (call) => (await import('./records.ts')).copyAllRecords(call),
  },
  {
    name: 'bootstrap-token',
    operands: [],
    synopsis: '[--reset]',
    summary: 'Print the token that activates the first administrator; --reset opens activation again',
    options: { reset: switched },
    run: async (call) => (await import('./bootstrap-token.ts')).bootstrapToken(call),
  },
  {
    name: 'user add',
    operands: ['NAME'],
    synopsis: '[--admin] [--scopes "a b"] [--scope-set NAME]...',
    summary: 'Make a user; the password is asked for, or is one line on standard input',
    options: { admin: switched, scopes: text, 'scope-set': listed },
    run: async (call) => (await import('./user.ts')).addUser(call),
  },
  {
    name: 'user list',
    operands: [],
    synopsis: '',
    summary: 'List the users',
    options: {},
    run: async (call) => (await import('./user.ts')).listUsers(call),
  },
  {
    name: 'user set-password',
    operands: ['NAME'],
    synopsis: '',
    summary: 'Set a new password, asked for or one line on standard input, and end the sessions',
    options: {},
    run: async (call) => (await import('./user.ts')).setPassword(call),
  },
  {
    name: 'user disable',
    operands: ['NAME'],
    synopsis: '',
    summary: 'End the sessions of a user and suspend the keys',
    options: {},
    run: async (call) => (await import('./user.ts')).disableUser(call),
  },
  {
    name: 'user enable',
    operands: ['NAME'],
    synopsis: '',
    summary: 'Let a disabled user sign in again and revive the keys',
    options: {},
    run: async (call) => (await import('./user.ts')).enableUser(call),
  },
  {
    name: 'user remove',
    operands: ['NAME'],
    synopsis: '[--keep-keys]',
    summary: 'Delete a user with the sessions and, unless --keep-keys, the keys',
    options: { 'keep-keys': switched },
    run: async (call) => (await import('./user.ts')).removeUser(call),
  },
  {
    name: 'user link',
    operands: ['NAME'],
    synopsis: '--provider NAME --subject SUB',
    summary: 'Let somebody at an identity provider, by the subject (`sub`) there, sign in as this user',
    options: { provider: text, subject: text },
    run: async (call) => (await import('./user.ts')).linkIdentity(call),
  },
  {
    name: 'user unlink',
    operands: ['NAME'],
    synopsis: '--provider NAME --subject SUB',
    summary: 'Take that identity away from the user again, and end the sessions',
    options: { provider: text, subject: text },
    run: async (call) => (await import('./user.ts')).unlinkIdentity(call),
  },
  {
    name: 'key create',
    operands: [],
    synopsis:
      '--user NAME --label TEXT --scopes "a b" [--scope-set NAME]... [--expires 2030-12-31T00:00:00Z]',
    summary: 'Make an API key in the name of a user and print it, this once',
    options: { user: text, label: text, scopes: text, 'scope-set': listed, expires: text },
    run: async (call) => (await import('./key.ts')).createKey(call),
  },
  {
    name: 'key list',
    operands: [],
    synopsis: '',
    summary: 'List the API keys',
    options: {},
    run: async (call) => (await import('./key.ts')).listKeys(call),
  },
  {
    name: 'key revoke',
    operands: ['ID'],
    synopsis: '[--children]',
    summary: 'Delete an API key; with --children all that were minted with it, at any depth, too',
    options: { children: switched },
    run: async (call) => (await import('./key.ts')).revokeKey(call),
  },
];
