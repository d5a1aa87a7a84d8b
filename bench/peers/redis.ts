import { execFileSync } from 'node:child_process';
import { findExecutable, freePort } from '../machine.ts';
import { startListening } from './launch.ts';
import type { StoreServer } from './store-server.ts';

const name = 'redis-server';

/** A Redis for sessions, on the proxy's CPU and counted as its. */
export const redis: StoreServer = {
  version() {
    const command = findExecutable(name);
    if (command === undefined) return undefined;
    const text = execFileSync(command, ['--version'], { encoding: 'utf8' });
    return `${name} ${/v=(\S+)/.exec(text)?.[1] ?? ''}`;
  },
  async start(surroundings) {
    const port = await freePort();
    const args = ['--bind', '127.0.0.1', '--port', `${port}`, '--save', '', '--dir', surroundings.directory];
    const program = { name: 'postern-redis', command: findExecutable(name) ?? name, args };
    return {
      stores: { sessions: `redis://127.0.0.1:${port}` },
      counted: [await startListening(surroundings, program, port)],
      stop: async () => {},
    };
  },
};
