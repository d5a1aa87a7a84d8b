import type { Command } from '../command.ts';

/** Commands about API keys. */
export const keyCommands: readonly Command[] = [
  {
    name: 'key create',
    operands: [],
    summary: 'Create an API key and print it, this one time',
    options: {
      user: { value: 'NAME', isRequired: true, help: 'owner of the key' },
      label: { value: 'TEXT', isRequired: true, help: 'name of the key in lists and in the audit' },
      scopes: { value: '"a b"', help: 'scopes, separated by spaces; needed without --scope-set' },
      'scope-set': { value: 'NAME', isRepeatable: true, help: 'scope set that the key holds' },
      expires: {
        value: 'TIME',
        help: 'duration from now (30d) or instant (2030-12-31T00:00:00Z); default: as long as api_keys.max_lifetime allows',
      },
    },
    run: async (call) => (await import('./key.ts')).createKey(call),
  },
  {
    name: 'key list',
    operands: [],
    summary: 'List the API keys',
    options: { user: { value: 'NAME', help: 'list only the keys of this user' } },
    run: async (call) => (await import('./key.ts')).listKeys(call),
  },
  {
    name: 'key revoke',
    operands: ['ID'],
    summary: 'Delete an API key',
    options: { children: { help: 'delete every key minted with it, too, at any depth' } },
    run: async (call) => (await import('./key.ts')).deleteKey(call),
  },
  {
    name: 'key transfer',
    operands: ['ID'],
    summary: 'Give an API key to another user',
    details: 'From then on the key is bounded by what its new owner holds',
    options: { user: { value: 'NAME', isRequired: true, help: 'new owner of the key' } },
    run: async (call) => (await import('./key.ts')).giveKey(call),
  },
];
