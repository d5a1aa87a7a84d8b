import { createHash } from 'node:crypto';
import { uuidv7 } from 'uuidv7';
import { canonicalAccountName } from '../../rules/account-name.ts';
import type { ManagedChanges, ManagedConflict, ManagedUser } from '../managed-records.ts';
import type { NewUser, UserChanges } from '../user.ts';
import type { UserRecord } from '../user-records.ts';
import type { Dialect } from './dialect.ts';
import { all, run, type Steps } from './steps.ts';
import { selectUserRecord, toUserRecord, type UserRecordRow } from './user-row.ts';
import { UserSteps } from './user-steps.ts';

const setPasswordDigest = `INSERT INTO configured_passwords (user_id, digest) VALUES (?, ?)
  ON CONFLICT (user_id) DO UPDATE SET digest = excluded.digest`;
const selectPasswordDigests = 'SELECT user_id AS "userId", digest FROM configured_passwords';
const removePasswordDigest = 'DELETE FROM configured_passwords WHERE user_id = ?';

/** A user as found, and the digest of the password hash that the configuration set last; null: none, or an unmanaged user. */
interface FoundUser {
  readonly record: UserRecord;
  readonly passwordDigest: string | null;
}

/** Transaction steps that make the users match a configuration. */
export class ManagedUsers {
  readonly #steps: UserSteps;
  readonly #relevant: string;
  readonly #byIds: string;
  readonly #now: () => number;

  constructor(dialect: Dialect, now: () => number) {
    this.#steps = new UserSteps(dialect, now);
    const select = selectUserRecord(dialect);
    const texts = `(SELECT value FROM ${dialect.elementsOf('?')})`;
    this.#relevant = `${select} WHERE u.managed = 1 OR u.canonical_name IN ${texts}`;
    this.#byIds = `${select} WHERE u.id IN ${texts}`;
    this.#now = now;
  }

  /** Reads the users who are managed, or whose name is in the configuration; by canonical name. */
  *read(wanted: readonly ManagedUser[]): Steps<ReadonlyMap<string, FoundUser>> {
    const names = JSON.stringify(wanted.map(({ canonicalName }) => canonicalName));
    const rows = yield* all<UserRecordRow>(this.#relevant, names);
    const digestRows = yield* all<{ readonly userId: string; readonly digest: string }>(
      selectPasswordDigests,
    );
    const digests = new Map(digestRows.map(({ userId, digest }) => [userId, digest]));
    return new Map(
      rows.map((row) => {
        const record = toUserRecord(row);
        // The password of a user who is not managed may have been set by anyone since.
        const passwordDigest = record.user.managed ? (digests.get(row.id) ?? null) : null;
        return [canonicalAccountName(row.username), { record, passwordDigest }];
      }),
    );
  }

  conflicts(
    wanted: readonly ManagedUser[],
    found: ReadonlyMap<string, FoundUser>,
  ): readonly ManagedConflict[] {
    return wanted.flatMap(({ key, canonicalName, adopt, kind }): ManagedConflict[] => {
      const user = found.get(canonicalName)?.record.user;
      if (user === undefined) return [];
      if (!user.managed && !adopt) return [{ problem: 'unmanaged', type: 'user', key }];
      return user.kind === kind ? [] : [{ problem: 'kind', type: 'user', key, kind: user.kind }];
    });
  }

  /** Creates, changes and disables users; `setIds`: ids of sets by name. The caller checks that an administrator remains. */
  *write(
    wanted: readonly ManagedUser[],
    found: ReadonlyMap<string, FoundUser>,
    setIds: ReadonlyMap<string, string>,
  ): Steps<Pick<ManagedChanges, 'createdUsers' | 'changedUsers'>> {
    const createdIds: string[] = [];
    const before = new Map<string, UserRecord>();
    for (const user of wanted) {
      const existing = found.get(user.canonicalName);
      const scopeSets = [...new Set(user.scopeSets.map((name) => setIds.get(name)!))].sort();
      if (existing === undefined) createdIds.push(yield* this.#create(user, scopeSets));
      else if (yield* this.#update(existing, user, scopeSets))
        before.set(existing.record.user.id, existing.record);
    }
    const names = new Set(wanted.map(({ canonicalName }) => canonicalName));
    for (const [name, { record }] of found) {
      if (names.has(name) || record.user.disabled) continue;
      yield* this.#steps.updateUnwatched(record.user, { disabled: true }, undefined);
      before.set(record.user.id, record);
    }
    const after = yield* this.#find([...createdIds, ...before.keys()]);
    return {
      createdUsers: createdIds.map((id) => after.get(id)!),
      changedUsers: [...before].map(([id, record]) => ({ before: record, after: after.get(id)! })),
    };
  }

  *#create(user: ManagedUser, scopeSets: readonly string[]): Steps<string> {
    const { username, canonicalName, displayName, email, kind, scopes, passwordHash } = user;
    const id = uuidv7();
    const fields: NewUser = {
      ...{ id, username, displayName, email, kind, scopes, scopeSets, passwordHash },
      managed: true,
      disabled: false,
      created: this.#now(),
      lastLogin: null,
    };
    yield* this.#steps.add(fields, canonicalName);
    if (passwordHash !== null) yield* run(setPasswordDigest, id, digestOf(passwordHash));
    return id;
  }

  /** Updates a user; returns true if the user's record had to be changed. */
  *#update(
    { record, passwordDigest }: FoundUser,
    { username, displayName, email, scopes, passwordHash }: ManagedUser,
    scopeSets: readonly string[],
  ): Steps<boolean> {
    const { user } = record;
    const wantedDigest = passwordHash === null ? null : digestOf(passwordHash);
    const hasNewPassword = wantedDigest !== passwordDigest;
    const wanted = { username, displayName, email, scopes, scopeSets, disabled: false, managed: true };
    const changes: UserChanges = {
      ...wanted,
      // A user who is taken over may have this hash already: then no session ends.
      ...(hasNewPassword && passwordHash !== user.passwordHash && { passwordHash }),
    };
    if (hasNewPassword && wantedDigest === null) yield* run(removePasswordDigest, user.id);
    else if (hasNewPassword) yield* run(setPasswordDigest, user.id, wantedDigest);
    const isSame = Object.entries(changes).every(
      ([name, value]) => JSON.stringify(user[name as keyof typeof wanted]) === JSON.stringify(value),
    );
    if (!isSame) yield* this.#steps.updateUnwatched(user, changes, undefined);
    return !isSame;
  }

  *#find(ids: readonly string[]): Steps<ReadonlyMap<string, UserRecord>> {
    if (ids.length === 0) return new Map();
    const rows = yield* all<UserRecordRow>(this.#byIds, JSON.stringify(ids));
    return new Map(rows.map((row) => [row.id, toUserRecord(row)]));
  }
}

function digestOf(passwordHash: string): string {
  return createHash('sha256').update(passwordHash).digest('hex');
}
