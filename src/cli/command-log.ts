import { createLogOn, type Log, type LogSettings } from '../log/log.ts';
import type { Call } from './command.ts';

/** The log of one command, on standard error because standard output is the result's. */
export function createCommandLog({ terminal }: Call, format: LogSettings['format']): Log {
  const { stderr } = terminal;
  return createLogOn(stderr, { level: 'info', format }, { isTerminal: stderr.isTTY });
}
