import type { Command } from '../command.ts';

/** Commands about audit events. */
export const auditCommands: readonly Command[] = [
  {
    name: 'audit list',
    operands: [],
    summary: 'Show who did what',
    details: 'The newest event comes last',
    options: {
      limit: { value: 'N', help: 'how many of the newest events to show; default: 100' },
      event: { value: 'NAME', help: 'show only events of this name' },
      follow: { help: 'go on with each new event until Ctrl-C; with --json, one object a line' },
    },
    run: async (call) => (await import('./audit.ts')).listAudit(call),
  },
];
