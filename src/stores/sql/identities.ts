import { Refusal } from '../../errors.ts';
import type { AcceptedIdentity, Identity, IdentityClaims, NewIdentityUser } from '../identity.ts';
import type { Records } from '../records.ts';
import { nextEpoch } from '../session-epoch.ts';
import type { NewUser, User, UserWithSets } from '../user.ts';
import type { UserRecord } from '../user-records.ts';
import { closingBootstrap, keepingAdministrator } from './administrator-watch.ts';
import { whereFound, writeAudited } from './audit-events.ts';
import type { SqlDatabase } from './database.ts';
import type { Dialect } from './dialect.ts';
import { first, noteChange, run, type Steps } from './steps.ts';
import {
  insertUser,
  selectUser,
  startUserEpoch,
  toNewRow,
  toUserWithSets,
  touchUser,
  type UserRow,
} from './user-row.ts';

interface IdentityRow extends Identity {
  readonly userId: string;
  readonly madeUser: number;
  readonly scopes: string;
  readonly provider: string | null;
  /** Names of the grants, sorted, as JSON; null: unknown. */
  readonly grants: string | null;
  /** Ids of the granted sets, sorted, as JSON. */
  readonly scopeSets: string;
}

const thatIdentity = 'issuer = ? AND subject = ?';
const selectName = 'SELECT id FROM users WHERE canonical_name = ?';
const insertIdentity = `INSERT INTO identities (issuer, subject, user_id, made_user, created, scopes)
  VALUES (?, ?, ?, ?, ?, '[]')`;
const removeIdentity = `DELETE FROM identities WHERE ${thatIdentity}`;
const setScopes = `UPDATE identities SET scopes = ?, grants = ?, provider = ? WHERE ${thatIdentity}`;
const removeSets = `DELETE FROM identity_scope_sets WHERE ${thatIdentity}`;
const setProfile = 'UPDATE users SET display_name = ?, email = ? WHERE id = ?';

/** Identities in SQL; `now` is the clock, in epoch milliseconds. */
export function createIdentities(database: SqlDatabase, now: () => number) {
  const { dialect, many } = database;
  const byUser = `${selectIdentity(dialect)} WHERE i.user_id = ? ORDER BY i.created, i.issuer, i.subject`;
  const steps = new IdentitySteps(dialect, now);

  return {
    acceptIdentity: (claims, newUser, audit) =>
      writeAudited(database, now, () => steps.accept(claims, newUser), audit && whereFound(audit)),
    identitiesOf: (userId) =>
      many(byUser, [userId], (rows: readonly IdentityRow[]) =>
        rows.map(({ issuer, subject, madeUser }) => ({ issuer, subject, madeUser: madeUser === 1 })),
      ),
  } satisfies Partial<Records>;
}

function selectIdentity(dialect: Dialect): string {
  return `SELECT i.issuer, i.subject, i.user_id AS "userId", i.made_user AS "madeUser", i.scopes, i.provider, i.grants,
      (SELECT ${dialect.arrayOf('s.set_id', 's.set_id')} FROM identity_scope_sets s
        WHERE s.issuer = i.issuer AND s.subject = i.subject) AS "scopeSets"
    FROM identities i`;
}

/** Transaction steps that change identities. */
export class IdentitySteps {
  readonly #byIdentity: string;
  readonly #userById: string;
  readonly #addSets: string;
  readonly #now: () => number;

  constructor(dialect: Dialect, now: () => number) {
    this.#now = now;
    this.#byIdentity = `${selectIdentity(dialect)} WHERE ${thatIdentity}`;
    this.#userById = `${selectUser(dialect)} WHERE u.id = ?`;
    this.#addSets = `INSERT INTO identity_scope_sets (issuer, subject, set_id)
      SELECT ?, ?, e.value FROM ${dialect.elementsOf('?')} e WHERE true ON CONFLICT DO NOTHING`;
  }

  *accept(claims: IdentityClaims, newUser: NewIdentityUser | null): Steps<AcceptedIdentity | undefined> {
    const known = yield* this.#find(claims);
    if (known === undefined) {
      if (newUser === null) return undefined;
      yield* createUser(claims, newUser);
    }
    const identity = known ?? (yield* this.#find(claims))!;
    const before = yield* this.#ownerOf(identity);
    if (before.user.disabled || before.user.kind === 'service') return { found: before, before };
    yield* this.#refresh(claims, identity, before.user);
    return { found: yield* this.#ownerOf(identity), before: known && before };
  }

  /** Links an identity to a user who was read in this transaction; returns `found` unchanged. */
  *link(found: UserRecord, identity: Identity): Steps<UserRecord> {
    if ((yield* this.#find(identity)) !== undefined) throw new Refusal('conflict');
    const { issuer, subject } = identity;
    const { id } = found.user;
    yield* closingBootstrap(() => run(insertIdentity, issuer, subject, id, 0, this.#now()));
    yield* this.#noteUser(id);
    return found;
  }

  /** Unlinks an identity of a user who was read in this transaction, and ends the user's sessions; returns `found` unchanged. */
  *unlink(found: UserRecord, { issuer, subject }: Identity): Steps<UserRecord> {
    const { id, epoch } = found.user;
    yield* keepingAdministrator(() => run(removeIdentity, issuer, subject));
    yield* run(startUserEpoch, nextEpoch(epoch, this.#now()), id);
    yield* this.#noteUser(id);
    return found;
  }

  *#find({ issuer, subject }: Identity): Steps<IdentityRow | undefined> {
    return yield* first<IdentityRow>(this.#byIdentity, issuer, subject);
  }

  *#ownerOf(identity: IdentityRow): Steps<UserWithSets> {
    return toUserWithSets((yield* first<UserRow>(this.#userById, identity.userId))!);
  }

  /** Increments the version of the user, and invalidates what is cached about the user. */
  *#noteUser(userId: string): Steps<void> {
    yield* run(touchUser, this.#now(), userId);
    yield* noteChange({ users: [userId] });
  }

  /** Updates grants and profile if they have changed; a sign-in that changes nothing invalidates no cache. */
  *#refresh(claims: IdentityClaims, identity: IdentityRow, user: User): Steps<void> {
    const { issuer, subject, displayName, email, provider = null } = claims;
    const scopes = JSON.stringify(claims.scopes);
    const grants = claims.grants === undefined ? null : JSON.stringify(claims.grants.toSorted());
    if (scopes !== identity.scopes || grants !== identity.grants || provider !== identity.provider) {
      yield* run(setScopes, scopes, grants, provider, issuer, subject);
      yield* this.#noteUser(user.id);
    }
    const scopeSets = JSON.stringify([...new Set(claims.scopeSets)].sort());
    if (scopeSets !== JSON.stringify(JSON.parse(identity.scopeSets))) {
      yield* run(removeSets, issuer, subject);
      yield* run(this.#addSets, issuer, subject, scopeSets);
      yield* this.#noteUser(user.id);
    }
    // The profile of a managed user is set by the configuration.
    if (
      identity.madeUser === 1 &&
      !user.managed &&
      (user.displayName !== displayName || user.email !== email)
    ) {
      yield* run(setProfile, displayName, email, user.id);
      yield* this.#noteUser(user.id);
    }
  }
}

function* createUser(
  { issuer, subject }: IdentityClaims,
  { id, created, names }: NewIdentityUser,
): Steps<void> {
  for (const { username, canonicalName } of names) {
    if ((yield* first(selectName, canonicalName)) !== undefined) continue;
    const user: NewUser = {
      id,
      username,
      displayName: null,
      email: null,
      passwordHash: null,
      scopes: [],
      scopeSets: [],
      disabled: false,
      created,
      lastLogin: null,
    };
    yield* run(insertUser, ...toNewRow(user, canonicalName));
    yield* run(insertIdentity, issuer, subject, id, 1, created);
    yield* noteChange({ users: [id] });
    return;
  }
  throw new Refusal('conflict');
}
