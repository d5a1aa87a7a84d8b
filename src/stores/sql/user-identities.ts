import type { Identity } from '../identity.ts';
import type { UserIdentityRecords } from '../user-identity-records.ts';
import type { UserRecord } from '../user-records.ts';
import { whereFound, writeAudited } from './audit-events.ts';
import { createFindCaller } from './callers.ts';
import type { SqlDatabase } from './database.ts';
import { IdentitySteps } from './identities.ts';
import { createFindUserRecord } from './user-record-row.ts';

/** Identities of users as administered, in SQL; `now` is the clock, in epoch milliseconds. */
export function createUserIdentities(database: SqlDatabase, now: () => number): UserIdentityRecords {
  const { dialect } = database;
  const caller = createFindCaller(dialect);
  const user = createFindUserRecord(dialect);
  const identities = new IdentitySteps(dialect, now);

  return {
    linkUserIdentity: (id, { caller: ref, decide, audit }) =>
      writeAudited(
        database,
        now,
        function* () {
          const found = yield* user(id);
          if (found === undefined) return undefined;
          yield* identities.link(found.user, decide(found, yield* caller(ref)));
          return found;
        },
        whereFound(audit),
      ),
    unlinkUserIdentity: (id, identity, { caller: ref, decide, audit }) =>
      writeAudited(
        database,
        now,
        function* () {
          const found = yield* user(id);
          if (found === undefined || !hasIdentity(found, identity)) return undefined;
          decide(found, yield* caller(ref));
          yield* identities.unlink(found.user, identity);
          return found;
        },
        whereFound(audit),
      ),
  };
}

function hasIdentity({ identities }: UserRecord, { issuer, subject }: Identity): boolean {
  return identities.some((linked) => linked.issuer === issuer && linked.subject === subject);
}
