import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { installedProgram, installedVersion } from '../peers/installed.ts';
import { occurred, type PacedGenerator } from './generator.ts';

/** The part of its result that is read; times in microseconds. */
interface PacedLoadResult {
  readonly Due: number;
  readonly Answered: number;
  readonly AnsweredInTime: number;
  readonly P50: number;
  readonly P99: number;
  readonly LateP99: number;
  readonly Failures: Record<string, number>;
}

/** programs/paced-load, which install.sh builds. */
export const pacedLoad: PacedGenerator = {
  name: 'paced-load',
  version: () => installedVersion('paced-load'),
  async pace({ processes, directory, cpu, url, credentials, connections, seconds, perSecond }) {
    const file = join(directory, 'paced-load.json');
    const { port, pathname } = new URL(url);
    const task = {
      Port: Number(port),
      Connections: connections,
      Target: pathname,
      Header: credentials.header,
      Values: credentials.values,
      PerSecond: perSecond,
      Seconds: seconds,
    };
    writeFileSync(file, JSON.stringify(task));
    const program = { name: 'paced-load', command: installedProgram('paced-load'), args: [file], cpu };
    const result = JSON.parse(await processes.run(program)) as PacedLoadResult;
    return {
      requests: result.Answered,
      due: result.Due,
      inTime: result.AnsweredInTime,
      seconds,
      p50Ms: result.P50 / 1000,
      p99Ms: result.P99 / 1000,
      lateP99Ms: result.LateP99 / 1000,
      failures: occurred(result.Failures),
    };
  },
};
