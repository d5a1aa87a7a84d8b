import { randomBytes } from 'node:crypto';
import { Audit } from '../administration/audit.ts';
import type { UseCaseParts } from '../administration/use-case.ts';
import type { Config } from '../config/sections/schema.ts';
import { catalogueOf } from '../config/values/scope-names.ts';
import { createHoldings } from '../credentials/holdings.ts';
import { type AuditEntry, createLogOn, type Log, type LogSettings } from '../log/log.ts';
import { openStores, type Stores } from '../runtime/stores.ts';
import type { AuditDraft } from '../stores/audit.ts';
import type { Call } from './command.ts';
import { type ReadConfig, readConfig, requireConfig } from './configuration.ts';

/** Dependencies of a command. They include the configured stores, which a gateway may be using at the same time. */
export interface CommandContext extends UseCaseParts {
  readonly config: Config;
  /** The file as read, to locate problems in it that only the stores reveal. */
  readonly read: ReadConfig;
  readonly records: Stores['records'];
  readonly sessions: Stores['sessions'];
  readonly attempts: Stores['attempts'];
  /** Writer of audit events, also to standard error, because standard output is for the result, and to the log of a gateway. */
  readonly audit: Audit;
  /** The log on standard error. */
  readonly log: Pick<Log, 'audit' | 'info' | 'warn'>;
}

/** Timeout of a command's calls to its records store, ms. */
const recordsTimeoutMs = 5_000;

/** The work of a command with its stores. */
type Work = (context: CommandContext) => Promise<void>;

/** Opens the stores for one piece of work and closes them, whether or not it succeeds. */
export async function withStores(call: Call, work: Work): Promise<void> {
  const read = readConfig(call);
  const config = requireConfig(read);
  const now = Date.now;
  const catalogue = new Set(catalogueOf(config));
  const log = createCommandLog(call, config.log.format);
  const { audit: logAudit, release } = heldBack(call, log);
  const events = {
    onUnavailable: (store: string, reason: string) => log.warn('store unavailable', { store, reason }),
    onNotificationsLost: () => {},
    onAvailable: () => {},
    onLogHeld: () => {},
    onLogEmptied: () => {},
    onCreated: () => {},
    onSecretsEncrypted: () => {},
    onOtherTenant: (owner: string) => log.warn('the records belong to another tenant', { records_of: owner }),
    onNarrowed: (file: string, mode: string) =>
      log.warn('store file was accessible to other users; its mode was changed to 0600', {
        file,
        former_mode: mode,
      }),
  };
  const stores = await openStores(config, {
    now,
    events,
    recordsTimeoutMs,
    creates: call.creates,
    staleIfErrorMs: () => config.sessions.stale_if_error,
  });
  const kept: Promise<void>[] = [];
  const keep = (event: AuditDraft) => {
    const audit = { drafts: () => [event], onWritten() {}, isForGateways: true };
    const added = stores.records.addAuditEvents(audit);
    // Reported at the end.
    added.catch(() => {});
    kept.push(added);
  };
  try {
    await work({
      config,
      read,
      records: stores.records,
      sessions: stores.sessions,
      attempts: stores.attempts,
      catalogue,
      holdings: createHoldings(catalogue, config.identity_providers),
      audit: new Audit({ log: { audit: logAudit }, keep, isForGateways: true, now }),
      log: { ...log, audit: logAudit },
      now,
      random: randomBytes,
      // A command has no open requests, and gateways find out by themselves.
      onCredentialEnded() {},
      onSessionsKept: () => log.warn(sessionsKept),
    });
    await Promise.all(kept);
  } catch (error) {
    release();
    throw error;
  } finally {
    // A command that fails after a change leaves the events of that change all the same.
    await Promise.allSettled(kept);
    await stores.close();
  }
}

/**
 * The writer of audit lines to standard error. On a terminal they are held back, where commands say what they did in a sentence;
 * `release` writes them after all, because a command that failed says nothing of what it did before.
 */
function heldBack(call: Call, log: Log): { readonly audit: Log['audit']; readonly release: () => void } {
  if (call.isSet('json') || !call.terminal.stderr.isTTY)
    return { audit: (entry) => log.audit(entry), release() {} };
  const held: AuditEntry[] = [];
  return {
    audit: (entry) => void held.push(entry),
    release() {
      for (const entry of held) log.audit(entry);
    },
  };
}

const sessionsKept =
  'the session store is unavailable: the sessions have ended, but their entries stay in it until they expire';

/** Log of a command, on standard error because standard output is for the result. */
export function createCommandLog({ terminal }: Call, format: LogSettings['format']): Log {
  const { stderr } = terminal;
  return createLogOn(stderr, { level: 'info', format }, { isTerminal: stderr.isTTY });
}
