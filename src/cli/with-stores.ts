import type { Config } from '../config/schema.ts';
import { catalogueOf } from '../config/scope-names.ts';
import { createHoldings, type Holdings } from '../credentials/holdings.ts';
import { openStores, type Stores } from '../gateway/stores.ts';
import { type AuditEntry, commandLine } from '../log/log.ts';
import { type Call, Failure } from './command.ts';
import { createCommandLog } from './command-log.ts';
import { readConfig, requireConfig } from './configuration.ts';

/** What a command works with: the configured stores, which a gateway may be using at the same time. */
export interface CommandContext {
  readonly config: Config;
  readonly records: Stores['records'];
  readonly sessions: Stores['sessions'];
  /** Every scope that can be granted. */
  readonly catalogue: ReadonlySet<string>;
  /** What users and keys hold now, by this configuration. */
  readonly holdings: Holdings;
  /** Writes an audit line to standard error, for standard output is the result's, and into the log of a gateway. */
  readonly audit: (entry: Pick<AuditEntry, 'event' | 'subject' | 'session' | 'key' | 'provider'>) => void;
  /** Epoch ms. */
  readonly now: () => number;
}

/** How long a command waits for its records store, ms. */
const recordsTimeoutMs = 5_000;

/** Opens the stores for one piece of work and closes them, whether or not it succeeds. */
export async function withStores(
  call: Call,
  work: (context: CommandContext) => Promise<void>,
): Promise<void> {
  const config = requireConfig(readConfig(call));
  const now = Date.now;
  const catalogue = new Set(catalogueOf(config));
  const log = createCommandLog(call, config.log.format);
  const events = {
    onUnavailable: (store: string, reason: string) => log.warn('store unavailable', { store, reason }),
    onNotificationsLost: () => {},
    onAvailable: () => {},
    onNarrowed: (file: string, mode: string) => log.warn('store file was open to others', { file, mode }),
  };
  const stores = await openStores(config, now, events, recordsTimeoutMs);
  const audited: AuditEntry[] = [];
  try {
    await work({
      config,
      records: stores.records,
      sessions: stores.sessions,
      catalogue,
      holdings: createHoldings(catalogue, config.identity_providers),
      audit(about) {
        const common = { outcome: 'success', actor: commandLine, address: null, requestId: null } as const;
        const entry: AuditEntry = { time: now(), ...common, ...about };
        log.audit(entry);
        audited.push(entry);
      },
      now,
    });
  } finally {
    // Also after a failure half-way: what was done must be logged.
    await notifyGateways(stores.records, audited).finally(() => stores.close());
  }
}

/** Leaves audit lines for the log of a running gateway, or of the next one; throws Failure. */
async function notifyGateways(records: Stores['records'], audited: readonly AuditEntry[]): Promise<void> {
  if (audited.length === 0) return;
  try {
    await records.keepCommandEvents(audited.map((entry) => JSON.stringify(entry)));
  } catch (error) {
    throw new Failure('failed', 'done, but the audit line could not be left for the log of a gateway', error);
  }
}
