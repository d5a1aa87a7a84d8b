import type { Command } from '../command.ts';

/** Commands about sessions. */
export const sessionCommands: readonly Command[] = [
  {
    name: 'session list',
    operands: [],
    summary: 'List the live sessions',
    options: { user: { value: 'NAME', help: 'list only the sessions of this user' } },
    run: async (call) => (await import('./session.ts')).listSessions(call),
  },
  {
    name: 'session revoke',
    operands: ['[ID]'],
    summary: 'End a session, those of a user, or all',
    options: {
      user: { value: 'NAME', help: 'end every session of this user' },
      all: { isAlternative: true, help: "end everyone's sessions" },
    },
    run: async (call) => (await import('./session.ts')).revokeSessions(call),
  },
];
