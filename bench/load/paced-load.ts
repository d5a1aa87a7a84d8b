import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { installedProgram, installedVersion } from '../peers/installed.ts';
import { type Burst, type BurstResult, occurred } from './generator.ts';

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

/** What the generator of constant load saw; latencies run from when a request was due. */
export interface PacedResult extends BurstResult {
  /** Requests that were due in the window. */
  readonly due: number;
  /** Of their responses, those that came within the window. */
  readonly inTime: number;
  /** 99 of 100 requests were sent within so many milliseconds after they were due, if a connection was free. */
  readonly lateP99Ms: number;
}

const name = 'paced-load';

/** The version of programs/paced-load; undefined where install.sh has not built it: nothing else here is exact enough. */
export function pacedLoadVersion(): string | undefined {
  return installedVersion(name);
}

/** Sends so many evenly spaced requests a second, whatever the responses do. */
export async function paceLoad(
  burst: Omit<Burst, 'headers'> & { readonly perSecond: number },
): Promise<PacedResult> {
  const { processes, directory, cpu, url, credentials, connections, seconds, perSecond } = burst;
  const file = join(directory, `${name}.json`);
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
  const output = await processes.run({ name, command: installedProgram(name), args: [file], cpu });
  const result = JSON.parse(output) as PacedLoadResult;
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
}
