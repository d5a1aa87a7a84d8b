import type { RecordSeals } from '../record-seals.ts';
import type { Records } from '../records.ts';
import { createApiKeys } from './api-keys.ts';
import { createAudit } from './audit.ts';
import type { SqlDatabase } from './database.ts';
import { createIdentities } from './identities.ts';
import { createInvitations } from './invitations.ts';
import { createManaged } from './managed.ts';
import { createScopeSets } from './scope-sets.ts';
import { createSecrets } from './secrets.ts';
import { createSigningKeys } from './signing-keys.ts';
import { createUserRecords } from './user-records.ts';
import { createUsers } from './users.ts';

/** Creates the part of the records store that is the same in every SQL database; `now` is the clock, in epoch milliseconds. */
export function createSqlRecords(database: SqlDatabase, now: () => number, seals: RecordSeals) {
  return {
    ...createUsers(database, now),
    ...createUserRecords(database, now),
    ...createIdentities(database, now),
    ...createInvitations(database, now),
    ...createScopeSets(database, now),
    ...createManaged(database, now),
    ...createApiKeys(database, now),
    ...createSigningKeys(database, now, seals),
    ...createSecrets(database, now, seals),
    ...createAudit(database, now),
  } satisfies Partial<Records>;
}
