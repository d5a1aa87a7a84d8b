import type { Command } from '../command.ts';

const text = { type: 'string' } as const;
const switched = { type: 'boolean' } as const;

/** The commands about sessions. */
export const sessionCommands: readonly Command[] = [
  {
    name: 'session list',
    operands: [],
    synopsis: '[--user NAME]',
    summary: 'List the live sessions',
    options: { user: text },
    run: async (call) => (await import('./session.ts')).listSessions(call),
  },
  {
    name: 'session revoke',
    operands: ['[ID]'],
    synopsis: '[--user NAME | --all]',
    summary: 'End a session, those of a user, or all',
    options: { user: text, all: switched },
    run: async (call) => (await import('./session.ts')).revokeSessions(call),
  },
];
