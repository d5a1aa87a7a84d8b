import type { Audit } from '../administration/audit.ts';
import { automatic } from '../administration/caller.ts';
import type { Config } from '../config/sections/schema.ts';
import type { KnownKeys } from '../credentials/known-keys.ts';
import type { Log } from '../log/log.ts';
import type { KeySeries } from '../stores/signing-key.ts';
import { signingKeyEvents } from './key-events.ts';
import { type KeySettings, plannedSeries, timesOf } from './key-times.ts';

/** How often it is asked whether the keys have changed, or something is due, ms: a revoked key counts no longer than a second. */
const intervalMs = 250;
/** How long nothing is tried after a failure, ms. */
const pauseMs = 2_000;

export interface KeyRotationParts {
  readonly keys: KnownKeys;
  /** The configuration that serves now. */
  readonly config: () => KeySettings;
  readonly audit: Audit;
  readonly log: Pick<Log, 'info'>;
}

/** Makes every series that the configuration signs with ready to sign. Rejects `store_unavailable`. */
export async function prepareKeys(config: Config, keys: KnownKeys): Promise<void> {
  await keys.refresh();
  for (const { series, times } of plannedSeries(config))
    if (keys.isDue(series, times)) await keys.turn(series, times);
}

/**
 * Follows changes of the keys, and replaces those whose time is over. While the store is away, the keys of now go on.
 * Returns what stops it.
 */
export function startKeyRotation(parts: KeyRotationParts): () => void {
  let isBusy = false;
  let pausedUntil = Number.NEGATIVE_INFINITY;
  const timer = setInterval(() => {
    if (isBusy || performance.now() < pausedUntil) return;
    isBusy = true;
    // An unavailable records store is reported elsewhere.
    followKeys(parts)
      .catch(() => {
        pausedUntil = performance.now() + pauseMs;
      })
      .finally(() => {
        isBusy = false;
      });
  }, intervalMs);
  timer.unref();
  return () => clearInterval(timer);
}

async function followKeys({ keys, config, audit, log }: KeyRotationParts): Promise<void> {
  await keys.refresh();
  const current = config();
  for (const { purpose, algorithm } of seriesOf(current, keys)) {
    // Of a whole key nothing else may get into the log.
    const series = { purpose, algorithm };
    const times = timesOf(series, current);
    if (!keys.isDue(series, times)) continue;
    // A rotation is an event of the audit; publishing the next key is only a line of the log.
    const { added } = await keys.turn(series, times, audit.withChange(automatic, signingKeyEvents));
    if (added !== null) log.info('signing key added', { ...series, kid: added });
  }
}

/** Those that the configuration signs with, and any other there is. */
function seriesOf(config: ReturnType<KeyRotationParts['config']>, keys: KnownKeys): readonly KeySeries[] {
  const all = [...plannedSeries(config).map(({ series }) => series), ...keys.keys];
  return [...new Map(all.map((each) => [`${each.purpose} ${each.algorithm}`, each])).values()];
}
