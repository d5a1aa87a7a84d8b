import { Refusal } from '../../errors.ts';
import { administratorSetId, type Records, type User, type UserWithSets } from '../records.ts';
import type { Connection } from './connection.ts';
import { parseHeldSets, selectHeldSets } from './scope-sets.ts';

/** The part of the records store about users. */
export type Users = Pick<
  Records,
  'findUser' | 'findUserByName' | 'listUsers' | 'createUser' | 'activate' | 'updateUser' | 'removeUser'
>;

interface UserRow extends Omit<User, 'scopes' | 'scopeSets' | 'disabled'> {
  readonly scopes: string;
  readonly disabled: number;
  readonly heldSets: string;
}

const selectUser = `SELECT u.id, u.username, u.display_name AS displayName, u.email,
    u.password_hash AS passwordHash, u.scopes, u.disabled, u.created, u.last_login AS lastLogin,
    ${selectHeldSets('user_scope_sets', 'user_id', 'u.id')} AS heldSets
  FROM users u`;

/** Users on SQLite. */
export function createUsers({ db, read, write, noteChange }: Connection): Users {
  const byId = db.prepare<[string], UserRow>(`${selectUser} WHERE u.id = ?`);
  const byName = db.prepare<[string], UserRow>(`${selectUser} WHERE u.canonical_name = ?`);
  const allByName = db.prepare<[], UserRow>(`${selectUser} ORDER BY u.canonical_name`);
  const idOfName = db.prepare<[string], string>('SELECT id FROM users WHERE canonical_name = ?').pluck();
  const canonicalNameOf = db
    .prepare<[string], string>('SELECT canonical_name FROM users WHERE id = ?')
    .pluck();
  const insert = db.prepare(`INSERT INTO users
    (id, username, canonical_name, display_name, email, password_hash, scopes, disabled, created, last_login)
    VALUES (@id, @username, @canonicalName, @displayName, @email, @passwordHash, @scopes, @disabled, @created, @lastLogin)`);
  const update = db.prepare(`UPDATE users SET username = @username, canonical_name = @canonicalName,
    display_name = @displayName, email = @email, password_hash = @passwordHash, scopes = @scopes, disabled = @disabled
    WHERE id = @id`);
  const remove = db.prepare<[string]>('DELETE FROM users WHERE id = ?');
  const removeKeysOf = db.prepare<[string]>('DELETE FROM api_keys WHERE created_by = ?');
  const insertHeldSet = db.prepare<[string, string]>(
    'INSERT OR IGNORE INTO user_scope_sets (user_id, set_id) VALUES (?, ?)',
  );
  const removeHeldSets = db.prepare<[string]>('DELETE FROM user_scope_sets WHERE user_id = ?');
  const hasAdministrator = db
    .prepare<[string], number>(
      `SELECT EXISTS (SELECT 1 FROM user_scope_sets h JOIN users u ON u.id = h.user_id
        WHERE h.set_id = ? AND u.disabled = 0)`,
    )
    .pluck();
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

  /** Runs `change`; taking the last enabled administrator away rolls it back. */
  function keepingAdministrator(change: () => void): void {
    const hadOne = hasAdministrator.get(administratorSetId) === 1;
    change();
    if (hadOne && hasAdministrator.get(administratorSetId) === 0) throw new Refusal('last_administrator');
    noteChange();
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
        return toUserWithSets(byId.get(id)!).user;
      }),
    removeUser: (id, { keepKeys }) =>
      write(() => {
        if (byId.get(id) === undefined) return false;
        keepingAdministrator(() => {
          remove.run(id);
          if (!keepKeys) removeKeysOf.run(id);
        });
        return true;
      }),
  };
}

function toUserWithSets(row: UserRow): UserWithSets;
function toUserWithSets(row: UserRow | undefined): UserWithSets | undefined;
function toUserWithSets(row: UserRow | undefined): UserWithSets | undefined {
  if (row === undefined) return undefined;
  const { heldSets, ...columns } = row;
  const { ids, sets } = parseHeldSets(heldSets);
  const scopes = JSON.parse(row.scopes) as string[];
  return { user: { ...columns, scopes, scopeSets: ids, disabled: row.disabled === 1 }, sets };
}

function toColumns(user: User, canonicalName: string): Record<string, string | number | null> {
  const { scopeSets: _, ...columns } = user;
  return { ...columns, canonicalName, scopes: JSON.stringify(user.scopes), disabled: user.disabled ? 1 : 0 };
}

/** A field that is present but undefined is no change either. */
function withoutUndefined<T extends object>(changes: T): Partial<T> {
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined)) as Partial<T>;
}
