import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The part of a .cpuprofile that is read: samples are node ids, deltas and times microseconds of the monotonic clock. */
interface CpuProfile {
  readonly startTime: number;
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

/** Begin and end of a window, in microseconds of the monotonic clock. */
export interface ProfileWindow {
  readonly from: number;
  readonly to: number;
}

const shownFunctions = 40;
const root = fileURLToPath(new URL('..', import.meta.url));

/** Now, on the clock that a profile of this machine is written in. */
export function monotonicMicroseconds(): number {
  return Number(process.hrtime.bigint() / 1000n);
}

/** The functions with the most time of their own within the window, from the profile in `directory`, as a table. */
export function renderProfile(directory: string, window: ProfileWindow): string {
  const file = readdirSync(directory).find((name) => name.endsWith('.cpuprofile'));
  if (file === undefined)
    throw new Error('no profile was written: is it a program of Node that exits orderly?');
  const profile = JSON.parse(readFileSync(join(directory, file), 'utf8')) as CpuProfile;
  const times = selfTimes(profile, window);
  const busy = [...times].reduce((sum, [name, time]) => (name === '(idle)' ? sum : sum + time), 0);
  const lines = [...times]
    .filter(([name]) => name !== '(idle)')
    .sort(([, a], [, b]) => b - a)
    .slice(0, shownFunctions)
    .map(([name, time]) => `${((100 * time) / busy).toFixed(1).padStart(6)} %  ${name}`);
  return `self time, share of ${(busy / 1e6).toFixed(2)} s busy\n${lines.join('\n')}`;
}

function selfTimes(profile: CpuProfile, { from, to }: ProfileWindow): Map<string, number> {
  const names = new Map(
    profile.nodes.map(({ id, callFrame: { functionName, url, lineNumber } }) => [
      id,
      url === '' ? functionName : `${functionName || '(anonymous)'} ${shorten(url)}:${lineNumber + 1}`,
    ]),
  );
  const times = new Map<string, number>();
  let now = profile.startTime;
  profile.samples.forEach((id, index) => {
    now += profile.timeDeltas[index] ?? 0;
    if (now < from || now > to) return;
    const name = names.get(id) ?? '(unknown)';
    // A sample represents the time until the next one.
    times.set(name, (times.get(name) ?? 0) + (profile.timeDeltas[index + 1] ?? 0));
  });
  return times;
}

function shorten(url: string): string {
  return url.replace(/^file:\/\//, '').replace(root, '');
}
