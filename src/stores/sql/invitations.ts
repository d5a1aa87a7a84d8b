import type { CallerRef } from '../caller.ts';
import type { InvitationFound, InvitationRecords, InvitationUse } from '../invitation-records.ts';
import type { UserRecord } from '../user-records.ts';
import { whereFound, writeAudited } from './audit-events.ts';
import type { SqlDatabase } from './database.ts';
import { createFindCaller, JudgedWrites } from './judged-writes.ts';
import { first, run, type Steps } from './steps.ts';
import { createFindUserRecord } from './user-row.ts';
import { UserSteps } from './user-steps.ts';

interface InvitationRow {
  readonly userId: string;
  /** A {@link CallerRef} as JSON. */
  readonly maker: string;
  readonly expires: number;
}

const byHash = 'SELECT user_id AS "userId", maker, expires FROM invitations WHERE hash = ?';
const put = `INSERT INTO invitations (user_id, hash, maker, created, expires) VALUES (?, ?, ?, ?, ?)
  ON CONFLICT (user_id) DO UPDATE SET hash = excluded.hash, maker = excluded.maker,
    created = excluded.created, expires = excluded.expires`;

/** Invitations in SQL; `now` is the clock, in epoch milliseconds. */
export function createInvitations(database: SqlDatabase, now: () => number): InvitationRecords {
  const { dialect, snapshot } = database;
  const caller = createFindCaller(dialect);
  const user = createFindUserRecord(dialect);
  const users = new UserSteps(dialect, now);
  const writes = new JudgedWrites(database, now);

  function* find(hash: Uint8Array): Steps<InvitationFound | undefined> {
    const row = yield* first<InvitationRow>(byHash, hash);
    const found = row && (yield* user(row.userId));
    if (row === undefined || found === undefined) return undefined;
    const maker = yield* caller(JSON.parse(row.maker) as CallerRef);
    return { found, maker, expires: row.expires };
  }

  function* redeem(hash: Uint8Array, decide: InvitationUse['decide']): Steps<UserRecord | undefined> {
    const invitation = yield* find(hash);
    if (invitation === undefined) return undefined;
    const { user: before } = invitation.found;
    const passwordHash = decide(invitation);
    // This also withdraws the invitation.
    yield* users.update(before, { passwordHash }, undefined);
    return yield* user(before.id);
  }

  return {
    inviteUser: (id, change) =>
      writes.makeFound(
        change,
        () => user(id),
        function* (found, { hash, maker, created, expires }) {
          yield* run(put, id, hash, JSON.stringify(maker), created, expires);
          return found;
        },
      ),
    findInvitation: (hash) => snapshot(() => find(hash)),
    redeemInvitation: (hash, { decide, audit }) =>
      writeAudited(database, now, () => redeem(hash, decide), whereFound(audit)),
  };
}
