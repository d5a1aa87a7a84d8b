import type { Config } from '../config/sections/schema.ts';
import { catalogueOf } from '../config/values/scope-names.ts';
import { createHoldings, type Holdings } from '../credentials/holdings.ts';
import type { ChangeEntry } from '../endpoints/change-audit.ts';
import type { Log } from '../log/log.ts';
import { openStores, type Stores } from '../runtime/stores.ts';
import type { AuditOf } from '../stores/audit.ts';
import type { CallerRef } from '../stores/caller.ts';
import type { Call } from './command.ts';
import { createCommandLog } from './command-log.ts';
import { type ReadConfig, readConfig, requireConfig } from './configuration.ts';

/** What a command works with: the configured stores, which a gateway may be using at the same time. */
export interface CommandContext {
  readonly config: Config;
  /** What the configuration was read from, for problems that only the stores can tell. */
  readonly read: ReadConfig;
  readonly records: Stores['records'];
  readonly sessions: Stores['sessions'];
  readonly attempts: Stores['attempts'];
  /** Every scope that can be granted. */
  readonly catalogue: ReadonlySet<string>;
  /** What users and keys hold now, by this configuration. */
  readonly holdings: Holdings;
  /**
   * The audit lines of a change: kept in its transaction, then written to standard error, for standard output is the
   * result's, and left for the log of a gateway.
   */
  readonly changeAudit: <Result>(entriesOf: (result: Result) => readonly ChangeEntry[]) => AuditOf<Result>;
  /** Likewise, of what is no change of the records. */
  readonly audit: (entries: readonly ChangeEntry[]) => Promise<void>;
  /** The log on standard error. */
  readonly log: Pick<Log, 'audit' | 'info' | 'warn'>;
  /** Epoch ms. */
  readonly now: () => number;
}

/** Who changes records by a command: anyone who can open the stores could do so without Postern. */
export const operator: CallerRef = { kind: 'command_line' };

/** How long a command waits for its records store, ms. */
const recordsTimeoutMs = 5_000;

/** Opens the stores for one piece of work and closes them, whether or not it succeeds. */
export async function withStores(
  call: Call,
  work: (context: CommandContext) => Promise<void>,
): Promise<void> {
  const read = readConfig(call);
  const config = requireConfig(read);
  const now = Date.now;
  const catalogue = new Set(catalogueOf(config));
  const log = createCommandLog(call, config.log.format);
  const events = {
    onUnavailable: (store: string, reason: string) => log.warn('store unavailable', { store, reason }),
    onNotificationsLost: () => {},
    onAvailable: () => {},
    onLogHeld: () => {},
    onLogEmptied: () => {},
    onCreated: () => {},
    onSecretsEncrypted: () => {},
    onNarrowed: (file: string, mode: string) => log.warn('store file was open to others', { file, mode }),
  };
  const stores = await openStores(config, {
    now,
    events,
    recordsTimeoutMs,
    creates: call.creates,
    staleIfErrorMs: () => config.sessions.stale_if_error,
  });
  const audit = new CommandAudit(stores.records, log);
  try {
    await work({
      config,
      read,
      records: stores.records,
      sessions: stores.sessions,
      attempts: stores.attempts,
      catalogue,
      holdings: createHoldings(catalogue, config.identity_providers),
      changeAudit: (entriesOf) => audit.of(entriesOf),
      audit: (entries) => audit.add(entries),
      log,
      now,
    });
  } finally {
    await stores.close();
  }
}

/** The audit lines of one command. */
class CommandAudit {
  readonly #records: Pick<Stores['records'], 'addAuditEvents'>;
  readonly #log: Pick<Log, 'audit'>;

  constructor(records: Pick<Stores['records'], 'addAuditEvents'>, log: Pick<Log, 'audit'>) {
    this.#records = records;
    this.#log = log;
  }

  /** As {@link CommandContext.changeAudit}. */
  of<Result>(entriesOf: (result: Result) => readonly ChangeEntry[]): AuditOf<Result> {
    return {
      drafts: (result) => entriesOf(result).map((entry) => ({ ...entry, address: null, requestId: null })),
      onWritten: (entries) => {
        for (const entry of entries) this.#log.audit(entry);
      },
      isForGateways: true,
    };
  }

  /** As {@link CommandContext.audit}. */
  async add(entries: readonly ChangeEntry[]): Promise<void> {
    if (entries.length === 0) return;
    const audit = this.of(() => entries);
    try {
      await this.#records.addAuditEvents(audit);
    } catch (error) {
      // What was done must at least be logged.
      audit.onWritten(audit.drafts(undefined));
      throw error;
    }
  }
}
