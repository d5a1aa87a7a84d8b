import type { Audit } from '../administration/audit.ts';
import { automatic } from '../administration/caller.ts';
import { signingKeyEvents } from '../administration/signing-keys.ts';
import { type KeySettings, plannedSeries, timesOf } from '../credentials/key-times.ts';
import type { KnownKeys } from '../credentials/signing-keys.ts';
import type { Log } from '../log/log.ts';
import type { MetricsRegistry } from '../metrics/registry.ts';
import { turnsAt } from '../stores/key-schedule.ts';
import { isOfSeries, type KeySeries } from '../stores/signing-keys.ts';

/** Interval of the rotation step, ms, so that a revoked key is refused within a second. */
export const rotationIntervalMs = 500;
/** Pause after a failure, ms. */
const pauseMs = 2_000;

/** Dependencies of the rotation. */
export interface KeyRotationParts {
  readonly keys: KnownKeys;
  /** Returns the current configuration. */
  readonly config: () => KeySettings;
  readonly audit: Audit;
  readonly log: Pick<Log, 'info'>;
}

/** Prepares a key of every series that the configuration signs with. Rejects with `store_unavailable`. */
export async function prepareKeys(config: KeySettings, keys: KnownKeys): Promise<void> {
  await keys.refresh();
  for (const { series, times } of plannedSeries(config))
    if (keys.isDue(series, times)) await keys.turn(series, times);
}

/**
 * Creates the step that follows changes of the keys, and rotates them on schedule; while the store is unavailable, the current
 * keys stay in use.
 */
export function createKeyRotation(parts: KeyRotationParts): () => Promise<void> {
  let pausedUntil = Number.NEGATIVE_INFINITY;
  return async () => {
    if (performance.now() < pausedUntil) return;
    // An unavailable records store is reported elsewhere.
    await followKeys(parts).catch(() => {
      pausedUntil = performance.now() + pauseMs;
    });
  };
}

async function followKeys({ keys, config, audit, log }: KeyRotationParts): Promise<void> {
  await keys.refresh();
  const current = config();
  // The series that the configuration signs with, and any others in the store.
  const all = [...plannedSeries(current).map(({ series }) => series), ...keys.keys];
  const bySeries = new Map<string, KeySeries>(all.map((each) => [`${each.purpose} ${each.algorithm}`, each]));
  for (const { purpose, algorithm } of bySeries.values()) {
    // Nothing else of a key may get into the log.
    const series = { purpose, algorithm };
    const times = timesOf(series, current);
    if (!keys.isDue(series, times)) continue;
    // A rotation is an event of the audit; publishing the next key is only a line of the log.
    const { added, turn } = await keys.turn(series, times, audit.withChange(automatic, signingKeyEvents));
    const signs = turn.needs === 'signer' ? 'signs at once' : 'does not sign yet';
    if (added !== null) log.info(`signing key added; it ${signs}`, { ...series, kid: added });
  }
}

/** Adds the gauge of the time until the next key of each series signs. */
export function addKeyMetrics(registry: MetricsRegistry, keys: KnownKeys, config: () => KeySettings): void {
  registry.add({
    name: 'signing_key_seconds_to_rotation',
    help: 'Seconds until the next key signs, by purpose and algorithm; negative: it is overdue. Absent without rotation.',
    type: 'gauge',
    combination: 'min',
    collect: () =>
      plannedSeries(config()).flatMap(({ series, times }) => {
        const ofSeries = keys.keys.filter((key) => isOfSeries(key, series));
        const time = keys.time();
        const at = turnsAt(ofSeries, times, time);
        return Number.isFinite(at) ? [{ labels: { ...series }, value: (at - time) / 1000 }] : [];
      }),
  });
}
