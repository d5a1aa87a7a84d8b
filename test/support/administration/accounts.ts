import { join } from 'node:path';
import { uuidv7 } from 'uuidv7';
import { createPasswordHasher } from '../../../src/credentials/passwords.ts';
import { canonicalAccountName } from '../../../src/rules/account-name.ts';
import type { Records } from '../../../src/stores/records.ts';
import { createSqliteRecords } from '../../../src/stores/sqlite/records.ts';
import type { NewUser } from '../../../src/stores/user.ts';
import type { UserRecordChanges } from '../../../src/stores/user-records.ts';
import { createUser, updateUser } from './record-changes.ts';

/** What a test says of a user; the rest is of no interest. */
export interface NewAccount {
  readonly username: string;
  readonly password: string;
  readonly scopes?: readonly string[];
  readonly scopeSets?: readonly string[];
  readonly disabled?: boolean;
  readonly kind?: NewUser['kind'];
}

/** The records of a running test gateway as another process opens them: what changes here, the gateway was not told. */
export async function withRecords<T>(folder: string, use: (records: Records) => Promise<T>): Promise<T> {
  const records = createSqliteRecords(join(folder, 'records.db'), { now: Date.now });
  try {
    return await use(records);
  } finally {
    await records.close();
  }
}

/** Hashes at the cost of the tests' configuration, so that a sign-in has no reason to hash anew. */
const hasher = createPasswordHasher({
  memoryBytes: 64 * 1024,
  iterations: 1,
  parallelism: 1,
  concurrency: 1,
  queue: 64,
});

/** Adds a user to the records of a test gateway. */
export function addUser(folder: string, account: NewAccount): Promise<NewUser> {
  return withRecords(folder, (records) => addUserTo(records, account));
}

/** Adds a user to records of whatever kind. */
export async function addUserTo(
  records: Pick<Records, 'createUserRecord'>,
  account: NewAccount,
): Promise<NewUser> {
  const { username, password, scopes = [], scopeSets = [], disabled = false, kind } = account;
  const user: NewUser = {
    id: uuidv7(),
    username,
    displayName: null,
    email: null,
    passwordHash: await hasher.hash(password),
    scopes,
    scopeSets,
    disabled,
    kind,
    created: Date.now(),
    lastLogin: null,
  };
  await createUser(records, user, canonicalAccountName(username));
  return user;
}

/** Changes a user in the records of a test gateway; `password` is hashed. */
export async function changeUser(
  folder: string,
  id: string,
  { password, ...changes }: Omit<UserRecordChanges, 'passwordHash'> & { readonly password?: string },
): Promise<void> {
  const passwordHash = password === undefined ? {} : { passwordHash: await hasher.hash(password) };
  await withRecords(folder, (records) => updateUser(records, id, { ...changes, ...passwordHash }));
}
