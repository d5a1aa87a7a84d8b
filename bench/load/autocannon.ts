import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageVersion, programFile } from '../peers/peer.ts';
import { type LoadGenerator, occurred } from './generator.ts';

/** The part of autocannon's result that is read. */
interface AutocannonResult {
  readonly requests: { readonly total: number };
  /** Seconds. */
  readonly duration: number;
  /** Milliseconds. */
  readonly latency: { readonly p50: number; readonly p99: number };
  readonly non2xx: number;
  readonly errors: number;
  readonly timeouts: number;
}

/** autocannon in its own process; each connection uses the credentials in turn. */
export const autocannon: LoadGenerator = {
  name: 'autocannon',
  version: () => packageVersion('autocannon'),
  async run({ processes, directory, cpu, url, credentials, headers, connections, seconds }) {
    const { header, values } = credentials;
    const file = join(directory, 'autocannon.json');
    const requests = values.map((value) => ({ headers: { ...headers, [header]: value } }));
    writeFileSync(file, JSON.stringify({ url, connections, duration: seconds, requests }));
    const args = [programFile('autocannon'), file];
    const output = await processes.run({ name: 'autocannon', command: process.execPath, args, cpu });
    const result = JSON.parse(output) as AutocannonResult;
    return {
      requests: result.requests.total,
      seconds: result.duration,
      p50Ms: result.latency.p50,
      p99Ms: result.latency.p99,
      failures: occurred({ non2xx: result.non2xx, errors: result.errors, timeouts: result.timeouts }),
    };
  },
};
