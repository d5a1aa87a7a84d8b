import { Refusal } from '../../errors.ts';
import type { Identity, IdentityClaims, NewIdentityUser, Records, User, UserIdentity } from '../records.ts';
import { createAdministratorWatch } from './administrator-watch.ts';
import type { Connection } from './connection.ts';
import { insertUser, selectUser, toColumns, toUserWithSets, type UserRow } from './user-row.ts';

/** The part of the records store about identities at providers. */
export type Identities = Pick<Records, 'acceptIdentity' | 'linkIdentity' | 'unlinkIdentity' | 'identitiesOf'>;

interface IdentityRow extends Identity {
  readonly userId: string;
  readonly madeUser: number;
  readonly scopes: string;
  /** Ids, sorted, as JSON. */
  readonly scopeSets: string;
}

const selectIdentity = `SELECT i.issuer, i.subject, i.user_id AS userId, i.made_user AS madeUser, i.scopes,
    (SELECT json_group_array(s.set_id ORDER BY s.set_id) FROM identity_scope_sets s
      WHERE s.issuer = i.issuer AND s.subject = i.subject) AS scopeSets
  FROM identities i`;

/** Identities on SQLite. */
export function createIdentities({ db, read, write, noteChange }: Connection): Identities {
  const byIdentity = db.prepare<Identity, IdentityRow>(
    `${selectIdentity} WHERE i.issuer = @issuer AND i.subject = @subject`,
  );
  const byUser = db.prepare<[string], IdentityRow>(
    `${selectIdentity} WHERE i.user_id = ? ORDER BY i.created`,
  );
  const userById = db.prepare<[string], UserRow>(`${selectUser} WHERE u.id = ?`);
  const isNameTaken = db.prepare<[string]>('SELECT 1 FROM users WHERE canonical_name = ?');
  const addUser = db.prepare(insertUser);
  const closeBootstrap = db.prepare('UPDATE bootstrap SET open = 0, token = NULL');
  const insert = db.prepare(`INSERT INTO identities (issuer, subject, user_id, made_user, scopes, created)
    VALUES (@issuer, @subject, @userId, @madeUser, '[]', @created)`);
  const remove = db.prepare<Identity>('DELETE FROM identities WHERE issuer = @issuer AND subject = @subject');
  const setScopes = db.prepare(
    'UPDATE identities SET scopes = @scopes WHERE issuer = @issuer AND subject = @subject',
  );
  const removeSets = db.prepare<Identity>(
    'DELETE FROM identity_scope_sets WHERE issuer = @issuer AND subject = @subject',
  );
  const addSet = db.prepare(
    'INSERT INTO identity_scope_sets (issuer, subject, set_id) VALUES (@issuer, @subject, @setId)',
  );
  const setProfile = db.prepare(
    'UPDATE users SET display_name = @displayName, email = @email WHERE id = @id',
  );
  const keepingAdministrator = createAdministratorWatch(db);

  function makeUser({ issuer, subject }: IdentityClaims, { id, created, names }: NewIdentityUser): void {
    const name = names.find(({ canonicalName }) => isNameTaken.get(canonicalName) === undefined);
    if (name === undefined) throw new Refusal('conflict');
    const user: User = {
      id,
      username: name.username,
      displayName: null,
      email: null,
      passwordHash: null,
      scopes: [],
      scopeSets: [],
      disabled: false,
      created,
      lastLogin: null,
    };
    addUser.run(toColumns(user, name.canonicalName));
    closeBootstrap.run();
    insert.run({ issuer, subject, userId: id, madeUser: 1, created });
  }

  /** Brings up to date what has changed; a sign-in that changes nothing makes nobody look anew. */
  function refresh(claims: IdentityClaims, row: IdentityRow, user: User): void {
    const { issuer, subject, displayName, email, scopes, scopeSets } = claims;
    const granted = JSON.stringify(scopes);
    if (granted !== row.scopes) {
      setScopes.run({ issuer, subject, scopes: granted });
      noteChange();
    }
    if (JSON.stringify(scopeSets.toSorted()) !== row.scopeSets) {
      removeSets.run({ issuer, subject });
      for (const setId of new Set(scopeSets)) addSet.run({ issuer, subject, setId });
      noteChange();
    }
    if (row.madeUser === 1 && (user.displayName !== displayName || user.email !== email)) {
      setProfile.run({ id: user.id, displayName, email });
      noteChange();
    }
  }

  return {
    acceptIdentity: (claims, newUser) =>
      write(() => {
        const identity = { issuer: claims.issuer, subject: claims.subject };
        const known = byIdentity.get(identity);
        if (known === undefined) {
          if (newUser === null) return undefined;
          makeUser(claims, newUser);
        }
        const row = known ?? byIdentity.get(identity)!;
        const before = toUserWithSets(userById.get(row.userId)!);
        if (before.user.disabled) return { found: before, isNew: false };
        refresh(claims, row, before.user);
        return { found: toUserWithSets(userById.get(row.userId)!), isNew: known === undefined };
      }),
    linkIdentity: (userId, { issuer, subject }, at) =>
      write(() => {
        if (userById.get(userId) === undefined) return false;
        const known = byIdentity.get({ issuer, subject });
        if (known !== undefined && known.userId !== userId) throw new Refusal('conflict');
        if (known === undefined) insert.run({ issuer, subject, userId, madeUser: 0, created: at });
        noteChange();
        return true;
      }),
    unlinkIdentity: (userId, { issuer, subject }) =>
      write(() => {
        if (byIdentity.get({ issuer, subject })?.userId !== userId) return false;
        keepingAdministrator(() => remove.run({ issuer, subject }));
        noteChange();
        return true;
      }),
    identitiesOf: (userId) => read(() => byUser.all(userId)).map(toUserIdentity),
  };
}

function toUserIdentity({ issuer, subject, madeUser }: IdentityRow): UserIdentity {
  return { issuer, subject, madeUser: madeUser === 1 };
}
