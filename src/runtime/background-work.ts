import type { Audit } from '../administration/audit.ts';
import type { Config } from '../config/sections/schema.ts';
import type { KeySettings } from '../credentials/key-times.ts';
import type { RecentUse } from '../credentials/recent-use.ts';
import type { KnownKeys } from '../credentials/signing-keys.ts';
import type { AuditEntry, Log } from '../log/log.ts';
import type { MetricsRegistry } from '../metrics/registry.ts';
import type { Records } from '../stores/records.ts';
import type { SingleUse } from '../stores/single-use.ts';
import { onTicks } from '../ticks.ts';
import { ClockWatch } from './clock-watch.ts';
import { addKeyMetrics, createKeyRotation, rotationIntervalMs } from './key-rotation.ts';
import type { RefusedConnections } from './refused-connections.ts';
import type { RemovedHeaderCounts } from './removed-headers.ts';
import type { OpenedStores, Stores } from './stores.ts';

const connectionsIntervalMs = 1_000;
const removedIntervalMs = 1_000;
const commandEventsIntervalMs = 1_000;
const clocksIntervalMs = 60_000;
const flushIntervalMs = 60_000;
const pruneIntervalMs = 600_000;
const auditPruneIntervalMs = 60_000;
/** Time, ms, for which the mark of an interval outlives it: the clocks of replicas and of the store differ. */
const markLeewayMs = 3_600_000;

/** The background work of a gateway. */
export interface BackgroundWork {
  stop(): void;
  /** Writes the collected uses to the stores, and what was counted to the log; logs an error of a store. */
  flush(): Promise<void>;
}

/** Dependencies of background work, apart from the stores. */
export interface BackgroundParts {
  readonly recentUse: RecentUse;
  readonly log: Log;
  readonly audit: Audit;
  readonly registry: MetricsRegistry;
  readonly clocks: OpenedStores['clocks'];
  readonly keys: KnownKeys;
  /** Returns the current configuration. */
  readonly settings: () => KeySettings & Pick<Config, 'audit'>;
  readonly refused: Pick<RefusedConnections, 'check' | 'flush'>;
  readonly removed: Pick<RemovedHeaderCounts, 'report'>;
  /** The clock, epoch ms. */
  readonly now: () => number;
}

/**
 * Starts watching connections and clocks, rotating keys, writing out recent use, removing dead sessions and old audit events, and
 * reporting the changes of commands; no timer keeps the process alive.
 */
export function startBackgroundWork(
  { records, sessions, singleUse }: Pick<Stores, 'records' | 'sessions' | 'singleUse'>,
  { recentUse, log, audit, registry, clocks, keys, settings, refused, removed, now }: BackgroundParts,
): BackgroundWork {
  const clockWatch = new ClockWatch({ clocks, now, log, registry });
  const logFailure = (message: string) => (error: unknown) => log.error(message, { err: error });
  const flush = () =>
    recentUse
      .flush()
      .catch(logFailure('last uses of API keys or sessions could not be written to the stores'));
  const pruneAudit = async () => {
    if (!(await isFirstInInterval(singleUse, 'prune audit', auditPruneIntervalMs, now()))) return;
    const { retention, max_events: maxEvents } = settings().audit;
    const since = clockWatch.isCertain() ? now() - clockWatch.leadMs() - retention : 0;
    const onFailed = logFailure('old audit events could not be deleted from the records store');
    await records.pruneAuditEvents({ since, maxEvents }).catch(onFailed);
  };
  const pruneSessions = async () => {
    const onFailed = logFailure('ended sessions could not be deleted from the session store');
    if (clockWatch.isCertain()) await sessions.prune().catch(onFailed);
  };
  const reportCommands = oneAtATime(createCommandReport(records, log));
  const turnKeys = oneAtATime(createKeyRotation({ keys, config: settings, audit, log }));
  const compareClocks = () => clockWatch.compare();
  void compareClocks();
  void reportCommands();
  addKeyMetrics(registry, keys, settings);
  const stops = [
    onTicks(connectionsIntervalMs, () => refused.check()),
    onTicks(removedIntervalMs, () => removed.report()),
    onTicks(commandEventsIntervalMs, reportCommands),
    onTicks(rotationIntervalMs, turnKeys),
    onTicks(clocksIntervalMs, compareClocks),
    onTicks(flushIntervalMs, flush),
    onTicks(pruneIntervalMs, pruneSessions),
    onTicks(auditPruneIntervalMs, pruneAudit),
  ];
  return {
    async flush() {
      refused.flush();
      removed.report();
      await flush();
    },
    stop() {
      for (const stop of stops) stop();
    },
  };
}

/**
 * True if this replica is the first to do `work` in the current interval; `now` in epoch ms. Also true if that can't be
 * determined, so it is only for work that does no harm if every replica does it.
 */
export async function isFirstInInterval(
  singleUse: Pick<SingleUse, 'consume'>,
  work: string,
  intervalMs: number,
  now: number,
): Promise<boolean> {
  const interval = Math.floor(now / intervalMs);
  try {
    return await singleUse.consume(`${work} ${interval}`, now + intervalMs + markLeewayMs);
  } catch {
    return true;
  }
}

/**
 * Creates a step that writes the audit events of commands on the same records to this log. Each event is written by one of the
 * gateways that share the records, which are read only after a change.
 */
function createCommandReport(
  records: Pick<Records, 'version' | 'takeCommandEvents'>,
  log: Pick<Log, 'audit'>,
): () => Promise<void> {
  let seenVersion: number | null = null;
  return async () => {
    const version = records.version();
    if (version === seenVersion) return;
    for (const entry of await records.takeCommandEvents()) log.audit(JSON.parse(entry) as AuditEntry);
    seenVersion = version;
  };
}

/** Wraps a step so that it is skipped while its last run is in progress. A failed run is ignored: the next makes up for it. */
function oneAtATime(step: () => Promise<void>): () => Promise<void> {
  let isRunning = false;
  return async () => {
    if (isRunning) return;
    isRunning = true;
    // An unavailable records store is reported elsewhere.
    await step().catch(() => {});
    isRunning = false;
  };
}
