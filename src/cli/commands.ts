import type { Command } from './command.ts';
import { firstSignal, printResult } from './terminal.ts';

const text = { type: 'string' } as const;
const switched = { type: 'boolean' } as const;
const listed = { type: 'string', multiple: true } as const;

/** Every command. Its code is loaded when it is called: help is instant, and signals are handled early. */
export const commands: readonly Command[] = [
  {
    name: 'serve',
    operands: [],
    synopsis: '[--quickstart | --upstream URL]',
    summary: 'Run the gateway',
    details: `--quickstart prints commands to try it with. --upstream URL needs no configuration: it protects /api of that service on
127.0.0.1:8080, keeps its data in ./data, and prints commands too. It runs until SIGTERM or SIGINT`,
    options: { quickstart: switched, upstream: text },
    configuration: 'optional',
    run: async (call) => {
      const stopRequested = firstSignal(call.terminal);
      await (await import('./serve.ts')).serve(call, stopRequested);
    },
  },
  {
    name: 'check',
    operands: [],
    synopsis: '',
    summary: 'Report every problem in the configuration',
    details:
      'Reports what would stop serve, with line, column, key and rule, and warns of what is probably a mistake',
    options: {},
    run: async (call) => (await import('./configuration.ts')).check(call),
  },
  {
    name: 'openapi',
    operands: [],
    synopsis: '',
    summary: 'Print the OpenAPI document',
    options: {},
    configuration: 'none',
    run: async (call) => {
      const document = (await import('../openapi/document.ts')).openApiDocument();
      await printResult(call, document, JSON.stringify(document, null, 2));
    },
  },
  {
    name: 'backup',
    operands: ['FILE'],
    synopsis: '',
    summary: 'Copy the records to a new file while the gateway runs',
    options: {},
    run: async (call) => (await import('./records.ts')).backup(call),
  },
  {
    name: 'records copy',
    operands: [],
    synopsis: '[--from ADDRESS] [--to ADDRESS]',
    summary: 'Copy all records to another, empty store',
    details:
      'A missing address is stores.records of the configuration. Counts and checksums are compared afterwards',
    options: { from: text, to: text },
    configuration: 'optional',
    run: async (call) => (await import('./records.ts')).copyAllRecords(call),
  },
  {
    name: 'bootstrap-token',
    operands: [],
    synopsis: '[--reset]',
    summary: 'Print the token for the first administrator',
    details: '--reset reopens activation, with a new token',
    options: { reset: switched },
    run: async (call) => (await import('./bootstrap-token.ts')).bootstrapToken(call),
  },
  {
    name: 'user add',
    operands: ['NAME'],
    synopsis: '[--admin] [--scopes "a b"] [--scope-set NAME]...',
    summary: 'Create a user',
    details:
      'The password is read from a prompt, or as one line from standard input. --admin grants every scope',
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
    summary: 'Set a password and end the sessions',
    details: 'The password is read from a prompt, or as one line from standard input',
    options: {},
    run: async (call) => (await import('./user.ts')).setPassword(call),
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
    synopsis: '[--keep-keys]',
    summary: 'Delete a user with all sessions and API keys',
    details: '--keep-keys keeps the API keys',
    options: { 'keep-keys': switched },
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
    run: async (call) => (await import('./user.ts')).linkIdentity(call),
  },
  {
    name: 'user unlink',
    operands: ['NAME'],
    synopsis: '--provider NAME --subject SUB',
    summary: 'Unlink an identity and end the sessions',
    options: { provider: text, subject: text },
    run: async (call) => (await import('./user.ts')).unlinkIdentity(call),
  },
  {
    name: 'key create',
    operands: [],
    synopsis:
      '--user NAME --label TEXT --scopes "a b" [--scope-set NAME]... [--expires 30d|2030-12-31T00:00:00Z]',
    summary: 'Create an API key and print it, this one time',
    details:
      '--expires is an instant, or a duration from now; without it the key lives as long as api_keys.max_lifetime allows',
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
    summary: 'Delete an API key',
    details: '--children also deletes every key minted with it, at any depth',
    options: { children: switched },
    run: async (call) => (await import('./key.ts')).revokeKey(call),
  },
];
