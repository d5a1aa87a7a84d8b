import { createHash } from 'node:crypto';
import type { Audit, ChangeEvent } from '../administration/audit.ts';
import { configured } from '../administration/caller.ts';
import { changedSetEvents, createdSetEvents } from '../administration/scope-set-events.ts';
import { changedUserEvents, createdUserEvents } from '../administration/user-events.ts';
import type { Finding } from '../config/report/problems.ts';
import type { Config } from '../config/sections/schema.ts';
import { Refusal } from '../errors.ts';
import type { Log } from '../log/log.ts';
import { canonicalAccountName, parseUsername } from '../rules/account-name.ts';
import type {
  ManagedChanges,
  ManagedConfiguration,
  ManagedConflict,
  ManagedOutcome,
  ManagedReading,
  ManagedRecords,
} from '../stores/managed-records.ts';
import type { Stores } from './stores.ts';

/** Dependencies of {@link applyManaged}. */
export interface ApplyManagedOptions {
  readonly stores: Pick<Stores, 'records' | 'sessions'>;
  readonly audit: Audit;
  readonly log: Pick<Log, 'warn'>;
  readonly reading: ManagedReading;
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
  { stores, audit, log, reading }: ApplyManagedOptions,
): Promise<ManagedOutcome> {
  const wanted = managedOf(config);
  const outcome = await stores.records
    .applyManaged(wanted, { reading, audit: audit.withChange(configured, eventsOf) })
    .catch((error: unknown) => {
      const isLast = error instanceof Refusal && error.code === 'last_administrator';
      throw isLast ? new ManagedProblems([lastAdministrator(config)]) : error;
    });
  if (outcome.outcome === 'conflicts') throw new ManagedProblems(outcome.conflicts.map(findingOf));
  if (outcome.outcome === 'applied') await endSessions(outcome.changes, { stores, audit, log });
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

function eventsOf(made: ManagedOutcome): readonly ChangeEvent[] {
  if (made.outcome !== 'applied') return [];
  const { createdSets, changedSets, createdUsers, changedUsers } = made.changes;
  return [
    ...supersededEvents(made.superseded),
    ...createdSets.flatMap(createdSetEvents),
    ...changedSets.flatMap(changedSetEvents),
    ...createdUsers.flatMap(createdUserEvents),
    ...changedUsers.flatMap(changedUserEvents),
  ];
}

/** The audit event about a superseded configuration; `number` is that of the one that is no longer in force. */
function supersededEvents(number: number | null): ChangeEvent[] {
  if (number === null) return [];
  const target = { type: 'configuration', id: String(number) } as const;
  return [{ event: 'configuration_superseded', subject: null, target }];
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
  { stores: { sessions }, audit, log }: Omit<ApplyManagedOptions, 'reading'>,
): Promise<void> {
  try {
    for (const { before, after } of changedUsers)
      if (before.user.epoch !== after.user.epoch)
        for (const session of await sessions.revokeAllOf(after.user.id))
          audit.record(configured, { event: 'session_revoked', subject: after.user.id, session });
  } catch (error) {
    log.warn('sessions of users who left the configuration were not removed', { err: error });
  }
}
