import { createHash } from 'node:crypto';
import type { Finding } from '../config/report/problems.ts';
import type { Config } from '../config/sections/schema.ts';
import type { ChangeEntry } from '../endpoints/change-audit.ts';
import { changedSetEntries, createdSetEntries } from '../endpoints/scope-sets/scope-set-events.ts';
import { changedUserEntries, createdUserEntries } from '../endpoints/users/user-events.ts';
import { Refusal } from '../errors.ts';
import { configuration, type Log } from '../log/log.ts';
import { canonicalAccountName, parseUsername } from '../rules/account-name.ts';
import type { AuditDraft, AuditOf } from '../stores/audit.ts';
import type {
  ManagedChanges,
  ManagedConfiguration,
  ManagedConflict,
  ManagedOutcome,
  ManagedReading,
  ManagedRecords,
} from '../stores/managed-records.ts';
import type { Stores } from './stores.ts';

/** What applying the users and scope sets of a configuration needs. */
export interface ApplyManagedOptions {
  readonly stores: Pick<Stores, 'records' | 'sessions'>;
  readonly log: Pick<Log, 'audit' | 'warn'>;
  readonly reading: ManagedReading;
  /** Whether one of the gateways on the store shall log it, too, for this process is none; default false. */
  readonly isForGateways?: boolean;
}

/** What in the configuration doesn't fit the records; nothing was changed. */
export class ManagedProblems extends Error {
  readonly findings: readonly Finding[];

  constructor(findings: readonly Finding[]) {
    super('the users and scope sets of the configuration do not fit the records');
    this.name = 'ManagedProblems';
    this.findings = findings;
  }
}

/**
 * Brings the users and scope sets of the records in step with the configuration, once among all processes that share the
 * records, by {@link ManagedRecords.applyManaged}. Rejects with {@link ManagedProblems}.
 */
export async function applyManaged(
  config: Config,
  { stores, log, reading, isForGateways = false }: ApplyManagedOptions,
): Promise<ManagedOutcome> {
  const wanted = managedOf(config);
  const outcome = await stores.records
    .applyManaged(wanted, { reading, audit: { ...auditOf(log), isForGateways } })
    .catch((error: unknown) => {
      const isLast = error instanceof Refusal && error.code === 'last_administrator';
      throw isLast ? new ManagedProblems([lastAdministrator(config)]) : error;
    });
  if (outcome.outcome === 'conflicts') throw new ManagedProblems(outcome.conflicts.map(findingOf));
  if (outcome.outcome === 'applied') await endSessions(outcome.changes, { stores, log, isForGateways });
  return outcome;
}

/** The users and scope sets of a configuration, in one form whatever the order in the file. */
export function managedOf({ scope_sets, users }: Config): ManagedConfiguration {
  const content = {
    scopeSets: byKey(scope_sets).map(([name, { description, scopes, adopt }]) => ({
      name,
      description,
      scopes: sortedDistinct(scopes),
      adopt,
    })),
    users: byKey(users).map(([key, user]) => ({
      key,
      username: parseUsername(key) as string,
      canonicalName: canonicalAccountName(key),
      displayName: user.display_name ?? null,
      email: user.email ?? null,
      kind: user.kind,
      scopes: sortedDistinct(user.scopes),
      scopeSets: sortedDistinct(user.scope_sets),
      passwordHash: user.password_hash ?? null,
      adopt: user.adopt,
    })),
  };
  return { ...content, digest: createHash('sha256').update(JSON.stringify(content)).digest('hex') };
}

function byKey<Value>(map: Readonly<Record<string, Value>>): readonly (readonly [string, Value])[] {
  return Object.entries(map).toSorted(([one], [other]) => (one < other ? -1 : 1));
}

function sortedDistinct(names: readonly string[]): readonly string[] {
  return [...new Set(names)].sort();
}

function auditOf(log: Pick<Log, 'audit'>): AuditOf<ManagedOutcome> {
  return {
    drafts: (made) =>
      made.outcome !== 'applied'
        ? []
        : [...supersededEntries(made.superseded), ...entriesOf(made.changes)].map((entry) => ({
            ...entry,
            address: null,
            requestId: null,
          })),
    onWritten: (entries) => {
      for (const entry of entries) log.audit(entry);
    },
  };
}

/** The audit event about a superseded configuration; `number` is that of the one that is no longer in force. */
function supersededEntries(number: number | null): ChangeEntry[] {
  if (number === null) return [];
  const target = { type: 'configuration', id: String(number) } as const;
  const event = 'configuration_superseded';
  return [{ event, outcome: 'success', actor: configuration, subject: null, target }];
}

function entriesOf({ createdSets, changedSets, createdUsers, changedUsers }: ManagedChanges): ChangeEntry[] {
  return [
    ...createdSets.flatMap((set) => createdSetEntries(configuration, set)),
    ...changedSets.flatMap((change) => changedSetEntries(configuration, change)),
    ...createdUsers.flatMap((user) => createdUserEntries(configuration, user)),
    ...changedUsers.flatMap((change) => changedUserEntries(configuration, change)),
  ];
}

function findingOf(conflict: ManagedConflict): Finding {
  const { type, key } = conflict;
  if (conflict.problem === 'kind')
    return {
      path: ['users', key, 'kind'],
      rule: `must be ${conflict.kind}: the kind of a user never changes`,
    };
  const [section, what] = type === 'user' ? ['users', 'a user'] : ['scope_sets', 'a scope set'];
  return {
    path: [section!, key],
    rule: `${what} of that name exists and is not managed: adopt: true takes it over`,
    at: 'key',
  };
}

function lastAdministrator({ users }: Config): Finding {
  const path = Object.keys(users).length === 0 ? [] : ['users'];
  return { path, rule: 'would leave no administrator who is enabled and can sign in', at: 'key' };
}

/** Ends the sessions of users who were disabled or got another password; the records say so whatever becomes of this. */
async function endSessions(
  { changedUsers }: ManagedChanges,
  { stores: { records, sessions }, log, isForGateways }: Omit<ApplyManagedOptions, 'reading'>,
): Promise<void> {
  const ended: AuditDraft[] = [];
  try {
    for (const { before, after } of changedUsers)
      if (before.user.epoch !== after.user.epoch)
        for (const session of await sessions.revokeAllOf(after.user.id))
          ended.push(revokedEntry(after.user.id, session));
  } catch (error) {
    log.warn('sessions of users who left the configuration were not removed', { err: error });
  }
  if (ended.length === 0) return;
  const written = (entries: readonly AuditDraft[]) => entries.forEach((entry) => void log.audit(entry));
  await records
    .addAuditEvents({ drafts: () => ended, onWritten: written, isForGateways })
    .catch(() => written(ended));
}

function revokedEntry(userId: string, session: string): AuditDraft {
  return {
    event: 'session_revoked',
    outcome: 'success',
    actor: configuration,
    subject: userId,
    session,
    target: { type: 'session', id: session },
    address: null,
    requestId: null,
  };
}
