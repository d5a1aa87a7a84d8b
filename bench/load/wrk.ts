import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findExecutable } from '../machine.ts';
import { type LoadGenerator, occurred } from './generator.ts';

const script = fileURLToPath(new URL('cycle.lua', import.meta.url));

/** wrk with one thread and a script that uses the credentials in turn. */
export const wrk: LoadGenerator = {
  name: 'wrk',
  version() {
    const command = findExecutable('wrk');
    // It exits with 1 after telling its version.
    return command === undefined
      ? undefined
      : /^wrk (\S+)/.exec(spawnSync(command, ['-v'], { encoding: 'utf8' }).stdout)?.[1];
  },
  async run({ processes, directory, cpu, url, credentials, headers = {}, connections, seconds }) {
    const file = join(directory, 'wrk-credentials');
    writeFileSync(file, credentials.values.map((value) => `${value}\n`).join(''));
    const output = await processes.run({
      name: 'wrk',
      command: findExecutable('wrk') ?? 'wrk',
      args: [
        ...['-t', '1', '-c', String(connections), '-d', `${seconds}s`, '--timeout', '5s', '-s', script, url],
        ...['--', credentials.header, file, ...Object.entries(headers).flat()],
      ],
      cpu,
    });
    const result = /^RESULT (.*)$/m.exec(output)?.[1];
    if (result === undefined) throw new Error(`wrk gave no result: ${output}`);
    const { requests, microseconds, p50, p99, ...failures } = JSON.parse(result) as Record<string, number>;
    if (requests === undefined || microseconds === undefined || p50 === undefined || p99 === undefined) {
      throw new Error(`wrk gave half a result: ${result}`);
    }
    return {
      requests,
      seconds: microseconds / 1e6,
      p50Ms: p50 / 1000,
      p99Ms: p99 / 1000,
      failures: occurred(failures),
    };
  },
};
