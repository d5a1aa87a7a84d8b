import type { Command } from '../command.ts';

const scopes = { value: '"a b"', help: 'scopes of the set, separated by spaces' };
const description = { value: 'TEXT', help: 'what the set is for' };

/** Commands about scope sets. */
export const scopeSetCommands: readonly Command[] = [
  {
    name: 'scope-set list',
    operands: [],
    summary: 'List the scope sets',
    run: async (call) => (await import('./scope-set.ts')).listScopeSets(call),
  },
  {
    name: 'scope-set add',
    operands: ['NAME'],
    summary: 'Create a scope set',
    options: { scopes: { ...scopes, isRequired: true }, description },
    run: async (call) => (await import('./scope-set.ts')).addScopeSet(call),
  },
  {
    name: 'scope-set set',
    operands: ['NAME'],
    summary: 'Replace what a scope set contains',
    details: 'Everyone who holds the set holds its new scopes with the next request',
    options: { scopes, name: { value: 'NAME', help: 'new name of the set' }, description },
    run: async (call) => (await import('./scope-set.ts')).setScopeSet(call),
  },
  {
    name: 'scope-set remove',
    operands: ['NAME'],
    summary: 'Delete a scope set that nothing holds',
    run: async (call) => (await import('./scope-set.ts')).deleteScopeSet(call),
  },
];
