import { Refusal } from '../../errors.ts';
import type { Records, User } from '../records.ts';
import { createAdministratorWatch } from './administrator-watch.ts';
import type { Connection } from './connection.ts';
import { insertUser, selectUser, toColumns, toUserWithSets, type UserRow } from './user-row.ts';

/** The part of the records store about users. */
export type Users = Pick<
  Records,
  'findUser' | 'findUserByName' | 'listUsers' | 'createUser' | 'activate' | 'updateUser' | 'removeUser'
>;

/** Users on SQLite. */
export function createUsers({ db, read, write, noteChange }: Connection): Users {
  const byId = db.prepare<[string], UserRow>(`${selectUser} WHERE u.id = ?`);
  const byName = db.prepare<[string], UserRow>(`${selectUser} WHERE u.canonical_name = ?`);
  const allByName = db.prepare<[], UserRow>(`${selectUser} ORDER BY u.canonical_name`);
  const idOfName = db.prepare<[string], string>('SELECT id FROM users WHERE canonical_name = ?').pluck();
  const canonicalNameOf = db
    .prepare<[string], string>('SELECT canonical_name FROM users WHERE id = ?')
    .pluck();
  const insert = db.prepare(insertUser);
  const update = db.prepare(`UPDATE users SET username = @username, canonical_name = @canonicalName,
    display_name = @displayName, email = @email, password_hash = @passwordHash, scopes = @scopes, disabled = @disabled
    WHERE id = @id`);
  const remove = db.prepare<[string]>('DELETE FROM users WHERE id = ?');
  const removeKeysOf = db.prepare<[string]>('DELETE FROM api_keys WHERE created_by = ?');
  const insertHeldSet = db.prepare<[string, string]>(
    'INSERT OR IGNORE INTO user_scope_sets (user_id, set_id) VALUES (?, ?)',
  );
  const removeHeldSets = db.prepare<[string]>('DELETE FROM user_scope_sets WHERE user_id = ?');
  const keepingAdministrator = createAdministratorWatch(db);
  const bootstrapIsOpen = db.prepare<[], number>('SELECT open FROM bootstrap').pluck();
  const closeBootstrap = db.prepare('UPDATE bootstrap SET open = 0, token = NULL');

  function requireFreeName(canonicalName: string, forId: string): void {
    const holder = idOfName.get(canonicalName);
    if (holder !== undefined && holder !== forId) throw new Refusal('conflict');
  }

  function add(user: User, canonicalName: string): void {
    requireFreeName(canonicalName, '');
    insert.run(toColumns(user, canonicalName));
    for (const setId of user.scopeSets) insertHeldSet.run(user.id, setId);
    closeBootstrap.run();
    noteChange();
  }

  function replaceHeldSets(id: string, setIds: readonly string[]): void {
    removeHeldSets.run(id);
    for (const setId of setIds) insertHeldSet.run(id, setId);
  }

  return {
    findUser: (id) => toUserWithSets(read(() => byId.get(id))),
    findUserByName: (canonicalName) => toUserWithSets(read(() => byName.get(canonicalName))),
    listUsers: () => read(() => allByName.all()).map((row) => toUserWithSets(row).user),
    createUser: (user, canonicalName) => write(() => add(user, canonicalName)),
    activate: (user, canonicalName) =>
      write(() => {
        if (bootstrapIsOpen.get() !== 1) throw new Refusal('already_activated');
        add(user, canonicalName);
      }),
    updateUser: (id, changes, canonicalName) =>
      write(() => {
        if (changes.username !== undefined && canonicalName === undefined) {
          throw new TypeError(
            'a new username comes with its canonical name, or the old one would still sign in',
          );
        }
        const before = toUserWithSets(byId.get(id))?.user;
        if (before === undefined) return undefined;
        if (canonicalName !== undefined) requireFreeName(canonicalName, id);
        const after: User = { ...before, ...withoutUndefined(changes) };
        keepingAdministrator(() => {
          update.run(toColumns(after, canonicalName ?? canonicalNameOf.get(id)!));
          if (changes.scopeSets !== undefined) replaceHeldSets(id, changes.scopeSets);
        });
        noteChange();
        return toUserWithSets(byId.get(id)!).user;
      }),
    removeUser: (id, { keepKeys }) =>
      write(() => {
        if (byId.get(id) === undefined) return false;
        keepingAdministrator(() => {
          remove.run(id);
          if (!keepKeys) removeKeysOf.run(id);
        });
        noteChange();
        return true;
      }),
  };
}

/** A field that is present but undefined is no change either. */
function withoutUndefined<T extends object>(changes: T): Partial<T> {
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined)) as Partial<T>;
}
