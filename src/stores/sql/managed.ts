import type {
  ConfigurationInForce,
  ManagedConfiguration,
  ManagedConflict,
  ManagedOutcome,
  ManagedRecords,
} from '../managed-records.ts';
import { keepingAdministrator } from './administrator-watch.ts';
import { writeAudited } from './audit-events.ts';
import type { SqlDatabase } from './database.ts';
import { ManagedSets } from './managed-sets.ts';
import { ManagedUsers } from './managed-users.ts';
import { first, run, type Steps } from './steps.ts';

const selectLast = 'SELECT number, digest FROM applied_configurations ORDER BY number DESC LIMIT 1';
const insertApplied = `INSERT INTO applied_configurations (digest, number, applied)
  SELECT ?, coalesce(max(number), 0) + 1, ? FROM applied_configurations WHERE true
  ON CONFLICT (digest) DO UPDATE SET number = excluded.number, applied = excluded.applied`;
const dropOldest = `DELETE FROM applied_configurations
  WHERE number <= (SELECT max(number) FROM applied_configurations) - ?`;

/** Number of applied configurations to remember; older ones are deleted. */
const maxRemembered = 1_000;

/** Users and scope sets of the configuration in SQL; `now` is the clock, in epoch milliseconds. */
export function createManaged(database: SqlDatabase, now: () => number): ManagedRecords {
  const managedSets = new ManagedSets(database.dialect, now);
  const managedUsers = new ManagedUsers(database.dialect, now);
  const inForce = () => database.one(selectLast, [], (row: ConfigurationInForce | undefined) => row);

  function* apply(wanted: ManagedConfiguration, isForced: boolean): Steps<ManagedOutcome> {
    const last = yield* first<ConfigurationInForce>(selectLast);
    if (last?.digest === wanted.digest && !isForced) {
      yield* takeNumber(wanted, now());
      return { outcome: 'current' };
    }
    const sets = yield* managedSets.read(wanted.scopeSets);
    const users = yield* managedUsers.read(wanted.users);
    const conflicts: readonly ManagedConflict[] = [
      ...managedSets.conflicts(wanted.scopeSets, sets),
      ...managedUsers.conflicts(wanted.users, users),
    ];
    if (conflicts.length > 0) return { outcome: 'conflicts', conflicts };
    const changes = yield* keepingAdministrator(function* () {
      const { ids, ...written } = yield* managedSets.write(wanted.scopeSets, sets);
      return { ...written, ...(yield* managedUsers.write(wanted.users, users, ids)) };
    });
    yield* takeNumber(wanted, now());
    return { outcome: 'applied', changes, superseded: last?.number ?? null };
  }

  return {
    async applyManaged(wanted, { reading, audit }) {
      const last = reading === 'again' ? await inForce() : undefined;
      if (last !== undefined) return { outcome: last.digest === wanted.digest ? 'current' : 'superseded' };
      return writeAudited(database, now, () => apply(wanted, reading === 'forced'), audit);
    },
    configurationInForce: inForce,
  };
}

function* takeNumber({ digest }: ManagedConfiguration, now: number): Steps<void> {
  yield* run(insertApplied, digest, now);
  yield* run(dropOldest, maxRemembered);
}
