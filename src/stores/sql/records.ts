import type { AuditRecords } from '../audit.ts';
import type { InvitationRecords } from '../invitation-records.ts';
import type { ManagedRecords } from '../managed-records.ts';
import type { RecordSeals } from '../record-seals.ts';
import type { UserIdentityRecords } from '../user-identity-records.ts';
import type { UserRecords } from '../user-records.ts';
import { type ApiKeys, createApiKeys } from './api-keys.ts';
import { createAudit } from './audit.ts';
import { type CommandEvents, createCommandEvents } from './command-events.ts';
import type { SqlDatabase } from './database.ts';
import { createIdentities, type Identities } from './identities.ts';
import { createInvitations } from './invitations.ts';
import { createManaged } from './managed.ts';
import { createScopeSets, type ScopeSets } from './scope-sets.ts';
import { createSecrets, type Secrets } from './secrets.ts';
import { createSigningKeys, type SigningKeys } from './signing-keys.ts';
import { createUserIdentities } from './user-identities.ts';
import { createUserRecords } from './user-records.ts';
import { createUsers, type Users } from './users.ts';

/** The part of the records store that is the same in every SQL database. */
export type SqlRecords = AuditRecords &
  ManagedRecords &
  Users &
  UserRecords &
  Identities &
  UserIdentityRecords &
  InvitationRecords &
  ScopeSets &
  ApiKeys &
  SigningKeys &
  Secrets &
  CommandEvents;

/** Creates it on a database; `now` is the clock, in epoch milliseconds. */
export function createSqlRecords(database: SqlDatabase, now: () => number, seals: RecordSeals): SqlRecords {
  return {
    ...createUsers(database, now),
    ...createUserRecords(database, now),
    ...createIdentities(database, now),
    ...createUserIdentities(database, now),
    ...createInvitations(database, now),
    ...createScopeSets(database, now),
    ...createManaged(database, now),
    ...createApiKeys(database, now),
    ...createSigningKeys(database, now, seals),
    ...createSecrets(database, now, seals),
    ...createCommandEvents(database),
    ...createAudit(database, now),
  };
}
