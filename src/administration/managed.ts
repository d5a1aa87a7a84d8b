import { createHash } from 'node:crypto';
import type { Finding } from '../config/report/problems.ts';
import type { Config } from '../config/sections/schema.ts';
import { sortedDistinct } from '../credentials/scopes.ts';
import { isRefusal } from '../errors.ts';
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
import type { Records } from '../stores/records.ts';
import type { Audit, ChangeEvent } from './audit.ts';
import { configured } from './caller.ts';
import { changedSetEvents, createdSetEvents } from './scope-sets.ts';
import { removeSessions, type SessionEndParts } from './sessions.ts';
import { changedUserEvents, createdUserEvents } from './user-events.ts';

/** Dependencies of {@link applyManaged}. */
export interface ApplyManagedOptions {
  readonly records: Pick<Records, 'applyManaged'>;
  readonly sessions: SessionEndParts['sessions'];
  readonly audit: Audit;
  readonly log: Pick<Log, 'warn'>;
  readonly reading: ManagedReading;
}

/** Problems of a configuration that conflicts with the records; nothing was changed. */
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
export async function applyManaged(config: Config, parts: ApplyManagedOptions): Promise<ManagedOutcome> {
  const { records, reading, audit } = parts;
  const outcome = await records
    .applyManaged(managedOf(config), { reading, audit: audit.withChange(configured, eventsOf) })
    .catch((error: unknown) => {
      if (!isRefusal(error, 'last_administrator')) throw error;
      throw new ManagedProblems([lastAdministrator(config)]);
    });
  if (outcome.outcome === 'conflicts') throw new ManagedProblems(outcome.conflicts.map(findingOf));
  if (outcome.outcome === 'applied') await endSessionsOf(outcome.changes, parts);
  return outcome;
}

/** The users and scope sets of a configuration, in a form that doesn't depend on their order in the file. */
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

function eventsOf(made: ManagedOutcome): readonly ChangeEvent[] {
  if (made.outcome !== 'applied') return [];
  const { createdSets, changedSets, createdUsers, changedUsers } = made.changes;
  // The number of the configuration that is no longer in force.
  const target = { type: 'configuration', id: String(made.superseded) } as const;
  return [
    ...(made.superseded === null
      ? []
      : [{ event: 'configuration_superseded', subject: null, target } as const]),
    ...createdSets.flatMap(createdSetEvents),
    ...changedSets.flatMap(changedSetEvents),
    ...createdUsers.flatMap(createdUserEvents),
    ...changedUsers.flatMap(changedUserEvents),
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

/** Removes the sessions of users who were disabled or got another password; according to the records they have ended already. */
async function endSessionsOf(
  { changedUsers }: ManagedChanges,
  { sessions, audit, log }: ApplyManagedOptions,
): Promise<void> {
  // A gateway is notified by the session store.
  const parts = { sessions, audit, onCredentialEnded() {} };
  try {
    for (const { before, after } of changedUsers)
      if (before.user.epoch !== after.user.epoch) await removeSessions(parts, configured, after.user.id);
  } catch (error) {
    log.warn(
      'sessions ended by the configuration could not be removed from the session store: they are not accepted, but stay there until they expire',
      { err: error },
    );
  }
}
