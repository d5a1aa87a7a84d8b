import type { Audit } from '../../administration/audit.ts';
import { operator } from '../../administration/caller.ts';
import { changedUserEvents } from '../../administration/user-events.ts';
import { Refusal } from '../../errors.ts';
import { canonicalAccountName } from '../../rules/account-name.ts';
import { isUnavailable } from '../../stores/remote/breaker.ts';
import type { User } from '../../stores/user.ts';
import type { UserRecord, UserRecordChanges } from '../../stores/user-records.ts';
import { type Call, Failure } from '../command.ts';
import { requireUser } from '../lookups.ts';
import { presentUserByNames } from '../present.ts';
import { printJsonAlone } from '../terminal.ts';
import { type CommandContext, withStores } from '../with-stores.ts';

/** Does `work` on the user whose name is the operand; the user it gives is the result. */
export async function withUser(
  call: Call,
  work: (context: CommandContext, user: User) => Promise<UserRecord>,
): Promise<void> {
  await withStores(call, async (context) => {
    const user = await requireUser(context, call.operands[0]!);
    const changed = await translatingManaged(context, user, work(context, user));
    await printJsonAlone(call, presentUserByNames(changed, context));
  });
}

/** Changes a user, in one transaction with its audit lines; `assertMay` refuses what must not be changed. Throws Failure. */
export async function changeUser(
  { records, audit }: CommandContext,
  user: User,
  changes: UserRecordChanges,
  assertMay: (found: UserRecord) => void = assertUnmanaged,
): Promise<UserRecord> {
  const changed = await records.changeUserRecord(user.id, {
    caller: operator.ref,
    decide(found) {
      assertMay(found);
      return changes;
    },
    audit: audit.withChange(operator, changedUserEvents),
  });
  if (changed === undefined) throw isGone(user);
  return changed.after;
}

/** Refuses `managed` for a user that a configuration keeps, this one or another. */
export function assertUnmanaged({ user }: Pick<UserRecord, 'user'>): void {
  if (user.managed) throw new Refusal('managed');
}

/** Refuses `managed` for a user that this configuration keeps, but not for one who has left it. */
export function assertNotKept({ config }: CommandContext): (found: Pick<UserRecord, 'user'>) => void {
  return ({ user }) => {
    if (isKept(user, config)) throw new Refusal('managed');
  };
}

function isKept({ managed, username }: User, { users }: CommandContext['config']): boolean {
  const name = canonicalAccountName(username);
  return managed && Object.keys(users).some((key) => canonicalAccountName(key) === name);
}

/**
 * Removes the sessions of a user whose record has changed from their store; by the record's epoch, or without a record,
 * they have ended already.
 */
export async function endSessions(context: CommandContext, { id }: User): Promise<void> {
  const removed = await removeSessions(context, id);
  recordEnded(context.audit, id, removed ?? []);
}

/**
 * Removes all sessions of a user, or of everyone, that have ended by what the records say. Gives their ids; undefined while
 * their store is unavailable, which is reported.
 */
export async function removeSessions(
  { sessions, log }: CommandContext,
  userId: string | null,
): Promise<readonly string[] | undefined> {
  try {
    return await (userId === null ? sessions.revokeAll() : sessions.revokeAllOf(userId));
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    log.warn(
      'the session store is unavailable: sessions have ended by the records, and stay there until they expire',
    );
    return undefined;
  }
}

/** Records that a command has ended sessions. */
export function recordEnded(audit: Audit, subject: string, sessions: readonly string[]): void {
  for (const session of sessions) audit.record(operator, { event: 'session_revoked', subject, session });
}

/** Whether something was refused with that code. */
export function isRefusal(error: unknown, code: Refusal['code']): error is Refusal {
  return error instanceof Refusal && error.code === code;
}

/** The failure when another process removed the user first. */
export function isGone({ username }: User): Failure {
  return new Failure('failed', `${JSON.stringify(username)} was removed in the meantime`);
}

/** Resolves as `change` does; a refusal because the configuration keeps the user is a sentence. */
export async function translatingManaged<T>(
  { config }: CommandContext,
  user: User,
  change: Promise<T>,
): Promise<T> {
  return change.catch((error) => {
    if (!isRefusal(error, 'managed')) throw error;
    const who = JSON.stringify(user.username);
    throw isKept(user, config)
      ? new Failure('failed', `${who} is kept by the configuration: change it there`, error)
      : new Failure('failed', `${who} has left the configuration: user enable takes it over`, error);
  });
}
