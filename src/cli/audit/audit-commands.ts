import type { Command } from '../command.ts';

const text = { type: 'string' } as const;
const switched = { type: 'boolean' } as const;

/** The commands about audit events. */
export const auditCommands: readonly Command[] = [
  {
    name: 'audit list',
    operands: [],
    synopsis: '[--limit N] [--event NAME] [--follow]',
    summary: 'Show who did what',
    details: `Shows the newest 100 events, or --limit of them, the newest last. --follow goes on with each new event until Ctrl-C; with
--json that is one object a line`,
    options: { limit: text, event: text, follow: switched },
    run: async (call) => (await import('./audit.ts')).listAudit(call),
  },
];
