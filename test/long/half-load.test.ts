import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { pacedLoadVersion } from '../../bench/load/paced-load.ts';
import { loadPeer } from '../../bench/measure.ts';
import { type PacedSample, pacePeer } from '../../bench/paced.ts';
import { programFile } from '../../bench/peers/peer.ts';
import { posternKey } from '../../bench/peers/postern.ts';
import { createStage } from '../../bench/stage.ts';
import { growthPerMinute, type Reading, secondHalf } from '../soak/trend.ts';
import { isLong } from '../support/gateway/gateway-under-load.ts';
import { mebibytes, openDescriptors, residentBytes } from '../support/gateway/process-usage.ts';

// Half of what saturates it, for an hour: nothing fails, nothing grows, and what holds requests up is short.

const seconds = Number(process.env.POSTERN_TEST_HALF_LOAD_SECONDS ?? (isLong ? 3_600 : 4));
const windowSeconds = isLong ? 20 : 1;
const saturationSeconds = isLong ? 10 : 1;
/** Less shows no trend: the figures are printed and not judged. */
const judgedSeconds = 600;
const mostMebibytesPerMinute = 1;
const mostDescriptorsPerMinute = 0.5;
/** Responses that come within the window that their requests were due in. */
const leastInTime = 0.98;

/** What `observe` writes. */
interface Observed {
  readonly collections: readonly { readonly ms: number }[];
  readonly longestDelayMs: number;
}

t.setTimeout((seconds + 300) * 1_000);

t.test(`half load for ${seconds} s`, async (t) => {
  if (pacedLoadVersion() === undefined)
    return t.pass('needs paced-load', { skip: 'bench/peers/install.sh has not built it' });
  const stage = await createStage(64, 'upstream');
  t.teardown(() => stage.clear());
  const into = stage.profileDirectory;
  const observer = `file://${programFile('observe')}?observe=delays&into=${encodeURIComponent(into)}`;
  const running = await stage.start(posternKey, ['--import', observer]);
  const [pid] = running.pids();
  await loadPeer(running, stage.settings, saturationSeconds);
  const { requests } = await loadPeer(running, stage.settings, saturationSeconds);
  const perSecond = Math.round(requests / saturationSeconds / 2);

  const memory: Reading[] = [];
  const descriptors: Reading[] = [];
  const samples: PacedSample[] = [];
  process.kill(pid!, 'SIGUSR2');
  const sinceMs = performance.now();
  for (let second = 0; second < seconds; second = (performance.now() - sinceMs) / 1_000) {
    // Rejects when a request had another response than success.
    samples.push(await pacePeer(running, stage.settings, perSecond, windowSeconds));
    memory.push({ second, value: mebibytes(residentBytes(pid!)) });
    descriptors.push({ second, value: openDescriptors(pid!) });
  }
  process.kill(pid!, 'SIGUSR2');
  const written = join(into, 'observed.json');
  while (!existsSync(written)) await sleep(50);
  const { collections, longestDelayMs } = JSON.parse(readFileSync(written, 'utf8')) as Observed;
  await running.stop();

  const longestCollectionMs = Math.max(0, ...collections.map(({ ms }) => ms));
  const inTime = samples.toSorted((a, b) => a.inTime - b.inTime)[samples.length >> 1]!.inTime;
  const p99 = samples.map(({ p99Ms }) => p99Ms).toSorted((a, b) => a - b);
  const slope = growthPerMinute(secondHalf(memory, seconds));
  const descriptorSlope = growthPerMinute(secondHalf(descriptors, seconds));
  t.comment(`${perSecond} requests a second, ${samples.length} windows of ${windowSeconds} s`);
  t.comment(`p99 by window: ${p99.at(0)} to ${p99.at(-1)} ms, median ${p99[p99.length >> 1]}`);
  t.comment(
    `memory, MiB: ${memory.map(({ value }) => value).join(' ')}; ${slope.toFixed(2)} a minute in the second half`,
  );
  t.comment(
    `descriptors: ${descriptors.map(({ value }) => value).join(' ')}; ${descriptorSlope.toFixed(2)} a minute`,
  );
  t.comment(
    `${collections.length} collections, the longest ${longestCollectionMs.toFixed(1)} ms; longest delay of the event loop ${longestDelayMs.toFixed(1)} ms`,
  );
  t.ok(samples.length > 0, 'every request succeeded');
  if (!isLong) return;
  t.ok(inTime >= leastInTime, `it keeps up: ${(inTime * 100).toFixed(1)} %`);
  if (seconds < judgedSeconds) return t.pass('memory and descriptors are not judged', { skip: 'too short' });
  t.ok(slope < mostMebibytesPerMinute, `memory grows by ${slope.toFixed(2)} MiB a minute`);
  t.ok(descriptorSlope < mostDescriptorsPerMinute, `descriptors by ${descriptorSlope.toFixed(2)} a minute`);
});
