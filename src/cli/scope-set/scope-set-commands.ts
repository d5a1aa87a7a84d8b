import type { Command } from '../command.ts';

const text = { type: 'string' } as const;

/** The commands about scope sets. */
export const scopeSetCommands: readonly Command[] = [
  {
    name: 'scope-set list',
    operands: [],
    synopsis: '',
    summary: 'List the scope sets',
    options: {},
    run: async (call) => (await import('./scope-set.ts')).listScopeSets(call),
  },
  {
    name: 'scope-set add',
    operands: ['NAME'],
    synopsis: '--scopes "a b" [--description TEXT]',
    summary: 'Create a scope set',
    options: { scopes: text, description: text },
    run: async (call) => (await import('./scope-set.ts')).addScopeSet(call),
  },
  {
    name: 'scope-set set',
    operands: ['NAME'],
    synopsis: '[--scopes "a b"] [--name NAME] [--description TEXT]',
    summary: 'Replace what a scope set contains',
    details: 'Everyone who holds the set holds its new scopes with the next request',
    options: { scopes: text, name: text, description: text },
    run: async (call) => (await import('./scope-set.ts')).setScopeSet(call),
  },
  {
    name: 'scope-set remove',
    operands: ['NAME'],
    synopsis: '',
    summary: 'Delete a scope set that nothing holds',
    options: {},
    run: async (call) => (await import('./scope-set.ts')).removeScopeSet(call),
  },
];
