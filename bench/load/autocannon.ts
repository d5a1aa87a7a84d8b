import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageVersion, programFile } from '../peers/peer.ts';
import { type Burst, type LoadGenerator, occurred, type PacedGenerator } from './generator.ts';

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
export const autocannon: LoadGenerator & PacedGenerator = {
  name: 'autocannon',
  version: () => packageVersion('autocannon'),
  async run(burst) {
    const { requests, duration, latency, ...unwanted } = await run(burst, {});
    return {
      requests: requests.total,
      seconds: duration,
      p50Ms: latency.p50,
      p99Ms: latency.p99,
      failures: failuresOf(unwanted),
    };
  },
  async pace(burst) {
    const { requests, latency, ...unwanted } = await run(burst, { overallRate: burst.perSecond });
    return {
      requests: requests.total,
      due: burst.perSecond * burst.seconds,
      inTime: requests.total,
      seconds: burst.seconds,
      p50Ms: latency.p50,
      p99Ms: latency.p99,
      lateP99Ms: undefined,
      failures: failuresOf(unwanted),
    };
  },
};

async function run(burst: Burst, more: object): Promise<AutocannonResult> {
  const { processes, directory, cpu, url, credentials, connections, seconds } = burst;
  const { header, values } = credentials;
  const file = join(directory, 'autocannon.json');
  const requests = values.map((value) => ({ headers: { [header]: value } }));
  writeFileSync(file, JSON.stringify({ url, connections, duration: seconds, requests, ...more }));
  const args = [programFile('autocannon'), file];
  return JSON.parse(await processes.run({ name: 'autocannon', command: process.execPath, args, cpu }));
}

function failuresOf({ non2xx, errors, timeouts }: Pick<AutocannonResult, 'non2xx' | 'errors' | 'timeouts'>) {
  return occurred({ non2xx, errors, timeouts });
}
