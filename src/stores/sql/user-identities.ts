import type { Identity } from '../identity.ts';
import type { UserIdentityRecords } from '../user-identity-records.ts';
import type { UserRecord } from '../user-records.ts';
import type { SqlDatabase } from './database.ts';
import { IdentitySteps } from './identities.ts';
import { JudgedWrites } from './judged-writes.ts';
import { createFindUserRecord } from './user-record-row.ts';

/** Identities of users as administered, in SQL; `now` is the clock, in epoch milliseconds. */
export function createUserIdentities(database: SqlDatabase, now: () => number): UserIdentityRecords {
  const user = createFindUserRecord(database.dialect);
  const identities = new IdentitySteps(database.dialect, now);
  const writes = new JudgedWrites(database, now);

  return {
    linkUserIdentity: (id, change) =>
      writes.makeFound(
        change,
        () => user(id),
        function* (found, identity) {
          yield* identities.link(found.user, identity);
          return found;
        },
      ),
    unlinkUserIdentity: (id, identity, change) =>
      writes.makeFound(
        change,
        function* () {
          const found = yield* user(id);
          return found && hasIdentity(found, identity) ? found : undefined;
        },
        function* (found) {
          yield* identities.unlink(found.user, identity);
          return found;
        },
      ),
  };
}

function hasIdentity({ identities }: UserRecord, { issuer, subject }: Identity): boolean {
  return identities.some((linked) => linked.issuer === issuer && linked.subject === subject);
}
