import type {
  ConfigurationInForce,
  ManagedChanges,
  ManagedConfiguration,
  ManagedConflict,
  ManagedOutcome,
  ManagedRecords,
} from '../managed-records.ts';
import { keepingAdministrator } from './administrator-watch.ts';
import { writeAudited } from './audit-events.ts';
import type { SqlDatabase } from './database.ts';
import type { Dialect } from './dialect.ts';
import { ManagedSets } from './managed-sets.ts';
import { ManagedUsers } from './managed-users.ts';
import { first, run, type Steps } from './steps.ts';

const selectLast = 'SELECT number, digest FROM applied_configurations ORDER BY number DESC LIMIT 1';
const insertApplied = `INSERT INTO applied_configurations (digest, number, applied)
  SELECT ?, coalesce(max(number), 0) + 1, ? FROM applied_configurations WHERE true
  ON CONFLICT (digest) DO UPDATE SET number = excluded.number, applied = excluded.applied`;
const dropOldest = `DELETE FROM applied_configurations
  WHERE number <= (SELECT max(number) FROM applied_configurations) - ?`;

/** Number of configurations remembered, the newest. */
const maxRemembered = 1_000;

/** Users and sets of the configuration in SQL; `now` is the clock, in epoch milliseconds. */
export function createManaged(database: SqlDatabase, now: () => number): ManagedRecords {
  const steps = new ManagedSteps(database.dialect, now);
  const inForce = () => database.one(selectLast, [], (row: ConfigurationInForce | undefined) => row);
  return {
    async applyManaged(wanted, { reading, audit }) {
      const last = reading === 'again' ? await inForce() : undefined;
      if (last !== undefined) return { outcome: last.digest === wanted.digest ? 'current' : 'superseded' };
      return writeAudited(database, now, () => steps.apply(wanted, reading === 'forced'), audit);
    },
    configurationInForce: inForce,
  };
}

/** The transaction that applies a configuration. */
class ManagedSteps {
  readonly #sets: ManagedSets;
  readonly #users: ManagedUsers;
  readonly #now: () => number;

  constructor(dialect: Dialect, now: () => number) {
    this.#sets = new ManagedSets(dialect, now);
    this.#users = new ManagedUsers(dialect, now);
    this.#now = now;
  }

  *apply(wanted: ManagedConfiguration, isForced: boolean): Steps<ManagedOutcome> {
    const last = yield* first<ConfigurationInForce>(selectLast);
    if (last?.digest === wanted.digest && !isForced) {
      yield* this.#takeNumber(wanted);
      return { outcome: 'current' };
    }
    const sets = yield* this.#sets.read(wanted.scopeSets);
    const users = yield* this.#users.read(wanted.users);
    const conflicts: readonly ManagedConflict[] = [
      ...this.#sets.conflicts(wanted.scopeSets, sets),
      ...this.#users.conflicts(wanted.users, users),
    ];
    if (conflicts.length > 0) return { outcome: 'conflicts', conflicts };
    const changes = yield* keepingAdministrator(() => this.#write(wanted, sets, users));
    yield* this.#takeNumber(wanted);
    return { outcome: 'applied', changes, superseded: last?.number ?? null };
  }

  *#takeNumber({ digest }: ManagedConfiguration): Steps<void> {
    yield* run(insertApplied, digest, this.#now());
    yield* run(dropOldest, maxRemembered);
  }

  *#write(
    { scopeSets, users }: ManagedConfiguration,
    foundSets: Parameters<ManagedSets['write']>[1],
    foundUsers: Parameters<ManagedUsers['write']>[1],
  ): Steps<ManagedChanges> {
    const sets = yield* this.#sets.write(scopeSets, foundSets);
    const written = yield* this.#users.write(users, foundUsers, sets.ids);
    return {
      createdSets: sets.created,
      changedSets: sets.changed,
      createdUsers: written.created,
      changedUsers: written.changed,
    };
  }
}
