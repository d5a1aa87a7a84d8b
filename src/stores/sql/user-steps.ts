import { Refusal } from '../../errors.ts';
import type { RemovedApiKey } from '../api-key.ts';
import { nextEpoch } from '../session-epoch.ts';
import type { NewUser, User, UserChanges } from '../user.ts';
import type { UserRecord } from '../user-records.ts';
import { closingBootstrap, isBootstrapOpen, keepingAdministrator } from './administrator-watch.ts';
import type { Dialect } from './dialect.ts';
import { insertHeldSets } from './held-sets.ts';
import { KeyLineage } from './key-lineage.ts';
import { first, noteChange, run, type Steps } from './steps.ts';
import { insertUser, startUserEpoch, toColumns, toNewRow, updateUser } from './user-row.ts';

const idOfName = 'SELECT id FROM users WHERE canonical_name = ?';
const canonicalNameOf = 'SELECT canonical_name AS "canonicalName" FROM users WHERE id = ?';
const removeHeldSets = 'DELETE FROM user_scope_sets WHERE user_id = ?';
const removeUser = 'DELETE FROM users WHERE id = ?';
const replaceHash = `UPDATE users SET password_hash = ?, updated = ?, version = version + 1
  WHERE id = ? AND password_hash = ? RETURNING id`;
const selectEpochs = `SELECT epoch AS tenant, (SELECT coalesce(max(epoch), 0) FROM users) AS newest
  FROM tenant_epoch`;
const withdrawInvitation = 'DELETE FROM invitations WHERE user_id = ?';
const startTenantEpoch = 'UPDATE tenant_epoch SET epoch = ?';

/** Transaction steps that change users. */
export class UserSteps {
  readonly #addHeldSets: string;
  readonly #lineage: KeyLineage;
  readonly #now: () => number;

  constructor(dialect: Dialect, now: () => number) {
    this.#now = now;
    this.#addHeldSets = insertHeldSets(dialect, 'user_scope_sets', 'user_id');
    this.#lineage = new KeyLineage(dialect);
  }

  *add(user: NewUser, canonicalName: string): Steps<void> {
    yield* requireFreeName(canonicalName, '');
    yield* closingBootstrap(() => this.#insert(user, canonicalName));
    yield* noteChange({ users: [user.id] });
  }

  /** Adds an administrator while the bootstrap is open, which closes it; otherwise refuses `already_activated`. */
  *activate(user: NewUser, canonicalName: string): Steps<void> {
    if (!(yield* isBootstrapOpen())) throw new Refusal('already_activated');
    yield* this.add(user, canonicalName);
  }

  /** Replaces the hash `from`, if the user still has it, by one of the same password: no session ends. */
  *replacePasswordHash(id: string, from: string, to: string): Steps<void> {
    const replaced = yield* run<{ readonly id: string }>(replaceHash, to, this.#now(), id, from);
    if (replaced.length > 0) yield* noteChange({ users: [id] });
  }

  /** Changes a user who was read in this transaction; `newName` is the canonical form of a changed name. */
  *update(before: User, changes: UserChanges, newName: string | undefined): Steps<void> {
    yield* keepingAdministrator(() => this.updateUnwatched(before, changes, newName));
  }

  /** As {@link update}, but the caller must check that an administrator remains. */
  *updateUnwatched(before: User, changes: UserChanges, newName: string | undefined): Steps<void> {
    const { id } = before;
    if (newName !== undefined) yield* requireFreeName(newName, id);
    const after: User = {
      ...before,
      ...withoutUndefined(changes),
      updated: this.#now(),
      ...epochAfter(before, changes, this.#now()),
    };
    const canonicalName = newName ?? (yield* nameOf(id));
    yield* closingBootstrap(() => this.#write(after, canonicalName, changes.scopeSets));
    // The invitation's link may be in other hands: perhaps that is why the password is changed or the user disabled.
    if (changes.passwordHash !== undefined || changes.disabled === true) yield* run(withdrawInvitation, id);
    yield* noteChange({ users: [id] });
  }

  /** Deletes a user, and the user's keys unless `keepKeys` is set; returns the deleted keys. */
  *remove(id: string, keepKeys: boolean): Steps<readonly RemovedApiKey[]> {
    yield* keepingAdministrator(() => run(removeUser, id));
    const keys = keepKeys ? [] : yield* this.#lineage.removeKeysOf(id);
    yield* noteChange({ users: [id], keys: keys.map((key) => key.id) });
    return keys;
  }

  /** Ends all sessions of a user who was read in this transaction, by starting a new epoch; returns `found` unchanged. */
  *endSessions(found: UserRecord): Steps<UserRecord> {
    const { id, epoch } = found.user;
    yield* run(startUserEpoch, nextEpoch(epoch, this.#now()), id);
    yield* noteChange({ users: [id] });
    return found;
  }

  /** Ends all sessions of all users, by starting a new epoch of the tenant. */
  *endAllSessions(): Steps<void> {
    const epochs = yield* first<{ readonly tenant: number; readonly newest: number }>(selectEpochs);
    const { tenant, newest } = epochs!;
    yield* run(startTenantEpoch, nextEpoch(Math.max(tenant, newest), this.#now()));
    yield* noteChange({ isEverything: true });
  }

  *#insert(user: NewUser, canonicalName: string): Steps<void> {
    yield* run(insertUser, ...toNewRow(user, canonicalName));
    yield* run(this.#addHeldSets, user.id, JSON.stringify(user.scopeSets));
  }

  *#write(user: User, canonicalName: string, scopeSets: readonly string[] | undefined): Steps<void> {
    yield* run(updateUser, ...toColumns(user, canonicalName));
    if (scopeSets === undefined) return;
    yield* run(removeHeldSets, user.id);
    yield* run(this.#addHeldSets, user.id, JSON.stringify(scopeSets));
  }
}

function* requireFreeName(canonicalName: string, forId: string): Steps<void> {
  const holder = yield* first<{ readonly id: string }>(idOfName, canonicalName);
  if (holder !== undefined && holder.id !== forId) throw new Refusal('conflict');
}

function* nameOf(id: string): Steps<string> {
  return (yield* first<{ readonly canonicalName: string }>(canonicalNameOf, id))!.canonicalName;
}

function epochAfter(
  before: User,
  { passwordHash, disabled = before.disabled, carriedSession }: UserChanges,
  now: number,
): Pick<User, 'epoch' | 'carriedSession'> {
  // Enabling starts an epoch, too: sessions may be left from before epochs were kept.
  if (passwordHash !== undefined || disabled !== before.disabled)
    return { epoch: nextEpoch(before.epoch, now), carriedSession: carriedSession ?? null };
  return { epoch: before.epoch, carriedSession: before.carriedSession };
}

/** The changes without undefined fields, which mean no change and must not overwrite anything. */
function withoutUndefined<T extends object>(changes: T): Partial<T> {
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined)) as Partial<T>;
}
