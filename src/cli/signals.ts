import type { Terminal } from './command.ts';

/**
 * Resolves with the first SIGTERM or SIGINT; the second one exits with 1 at once. Called before anything slow: as
 * process 1 of a container a signal that nobody handles yet is ignored, and any other process would end by SIGHUP.
 */
export function firstSignal(terminal: Pick<Terminal, 'on' | 'exit'>): Promise<void> {
  return new Promise((resolve) => {
    let isFirst = true;
    const receive = () => {
      if (!isFirst) terminal.exit(1);
      isFirst = false;
      resolve();
    };
    terminal.on('SIGTERM', receive);
    terminal.on('SIGINT', receive);
    // Before the configuration is read there is nothing to read again.
    terminal.on('SIGHUP', () => {});
  });
}
