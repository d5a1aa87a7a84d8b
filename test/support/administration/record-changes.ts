import type { ApiKey, ListedApiKey } from '../../../src/stores/api-key.ts';
import type { AuditOf } from '../../../src/stores/audit.ts';
import type { JudgedChange } from '../../../src/stores/caller.ts';
import type { Identity } from '../../../src/stores/identity.ts';
import type { Records } from '../../../src/stores/records.ts';
import type { NewUser, User } from '../../../src/stores/user.ts';
import type {
  KeysOfRemoved,
  RemovedUser,
  UserRecord,
  UserRecordChanges,
} from '../../../src/stores/user-records.ts';

/*
 * Changes of users, identities and keys as an operator makes them: through the calls of the product, where no rule about
 * the caller refuses any.
 */

const unaudited: AuditOf<unknown> = { drafts: () => [], onWritten() {} };

function byOperator<Found, Decision, Result>(
  decision: Decision,
  audit: AuditOf<Result> = unaudited,
): JudgedChange<Found, Decision, Result> {
  return { caller: { kind: 'command_line' }, decide: () => decision, audit };
}

/** Every user, in any order. */
export async function listUsers(records: Pick<Records, 'listUserRecords'>): Promise<readonly User[]> {
  const query = { sortBy: 'username', sortOrder: 'asc', filters: [], size: 10_000 } as const;
  const { items, after } = await records.listUserRecords(query);
  if (after) throw new Error(`more than ${query.size} users`);
  return items.map(({ user }) => user);
}

/** Refuses `conflict` when the name is taken or a set doesn't exist. */
export function createUser(
  records: Pick<Records, 'createUserRecord'>,
  user: NewUser,
  canonicalName: string,
  audit?: AuditOf<UserRecord>,
): Promise<UserRecord> {
  return records.createUserRecord(byOperator({ user, canonicalName }, audit));
}

/** The user as changed; undefined when there is none. Refuses `conflict`, `last_administrator`. */
export async function updateUser(
  records: Pick<Records, 'changeUserRecord'>,
  id: string,
  changes: UserRecordChanges,
): Promise<User | undefined> {
  return (await records.changeUserRecord(id, byOperator(changes)))?.after.user;
}

/** Undefined when there is no such user. Refuses `last_administrator`. */
export function removeUser(
  records: Pick<Records, 'removeUserRecord'>,
  id: string,
  keys: KeysOfRemoved = 'delete',
): Promise<RemovedUser | undefined> {
  return records.removeUserRecord(id, keys, byOperator(undefined));
}

/** The user as found; undefined when there is none. Refuses `conflict` when the identity is linked already. */
export function linkIdentity(
  records: Pick<Records, 'linkUserIdentity'>,
  userId: string,
  identity: Identity,
): Promise<UserRecord | undefined> {
  return records.linkUserIdentity(userId, byOperator(identity));
}

/** The user as found; undefined when there is none who has the identity. Refuses `last_administrator`. */
export function unlinkIdentity(
  records: Pick<Records, 'unlinkUserIdentity'>,
  userId: string,
  identity: Identity,
): Promise<UserRecord | undefined> {
  return records.unlinkUserIdentity(userId, identity, byOperator(undefined));
}

/** Gives a key to another user; undefined when there is no such key. */
export function transferApiKey(
  records: Pick<Records, 'transferApiKey'>,
  id: string,
  newOwnerId: string,
): Promise<ListedApiKey | undefined> {
  return records.transferApiKey(id, newOwnerId, byOperator(undefined));
}

/** Refuses `not_authenticated` when the credential that mints it is gone, `conflict` when a set is. */
export function createApiKey(
  records: Pick<Records, 'createApiKeyRecord'>,
  key: ApiKey,
  hash: Uint8Array,
  audit?: AuditOf<ListedApiKey>,
): Promise<ListedApiKey> {
  const { createdBy: ownerId, scopeSets } = key;
  return records.createApiKeyRecord({ ownerId, scopeSets }, byOperator({ key, hash }, audit));
}
