import type { Command } from '../command.ts';

const text = { type: 'string' } as const;
const switched = { type: 'boolean' } as const;
const listed = { type: 'string', multiple: true } as const;

/** The commands about API keys. */
export const keyCommands: readonly Command[] = [
  {
    name: 'key create',
    operands: [],
    synopsis:
      '--user NAME --label TEXT --scopes "a b" [--scope-set NAME]... [--expires 30d|2030-12-31T00:00:00Z]',
    summary: 'Create an API key and print it, this one time',
    details: `--expires is an instant, or a duration from now; without it the key lives as long as api_keys.max_lifetime allows.
--scopes may be left out where --scope-set is given`,
    options: { user: text, label: text, scopes: text, 'scope-set': listed, expires: text },
    run: async (call) => (await import('./key.ts')).createKey(call),
  },
  {
    name: 'key list',
    operands: [],
    synopsis: '[--user NAME]',
    summary: 'List the API keys',
    options: { user: text },
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
  {
    name: 'key transfer',
    operands: ['ID'],
    synopsis: '--user NAME',
    summary: 'Give an API key to another user',
    details: 'From then on the key can do what that user holds, as far as it has the scopes itself',
    options: { user: text },
    run: async (call) => (await import('./key.ts')).transferKey(call),
  },
];
