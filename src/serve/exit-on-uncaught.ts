import type { Log } from '../log/log.ts';

/** Ends the process after an unexpected error: the state of a gateway is unknown then, so it must not continue. */
export function exitOnUncaught(terminal: Pick<NodeJS.Process, 'on' | 'exit'>, log: Log): void {
  terminal.on('uncaughtException', (error, origin) => {
    log.error('uncaught error: this process exits with code 1', { err: error, origin });
    log.flush();
    terminal.exit(1);
  });
}
