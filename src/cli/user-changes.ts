import { changedUserEntries } from '../endpoints/users/user-events.ts';
import { Refusal } from '../errors.ts';
import { commandLine } from '../log/log.ts';
import type { User } from '../stores/user.ts';
import type { UserRecord, UserRecordChanges } from '../stores/user-records.ts';
import { type Call, Failure } from './command.ts';
import { requireUser } from './lookups.ts';
import { presentUserByNames } from './present.ts';
import { printJsonAlone } from './terminal.ts';
import { type CommandContext, operator, withStores } from './with-stores.ts';

/** Does `work` on the user whose name is the operand; the user it gives is the result. */
export async function withUser(
  call: Call,
  work: (context: CommandContext, user: User) => Promise<UserRecord>,
): Promise<void> {
  await withStores(call, async (context) => {
    const user = await requireUser(context, call.operands[0]!);
    const changed = await translatingManaged(user, work(context, user));
    await printJsonAlone(call, presentUserByNames(changed, context));
  });
}

/** Changes a user, who must not be managed, in one transaction with its audit lines. Throws Failure. */
export async function changeUser(
  { records, changeAudit }: CommandContext,
  user: User,
  changes: UserRecordChanges,
): Promise<UserRecord> {
  const changed = await records.changeUserRecord(user.id, {
    caller: operator,
    decide(found) {
      assertUnmanaged(found);
      return changes;
    },
    audit: changeAudit((made) => changedUserEntries(commandLine, made)),
  });
  if (changed === undefined) throw isGone(user);
  return changed.after;
}

/** Refuses `managed` for a user that the configuration keeps. */
export function assertUnmanaged({ user }: Pick<UserRecord, 'user'>): void {
  if (user.managed) throw new Refusal('managed');
}

/** Ends every session of the user, here and in every gateway on the store. */
export async function endSessions({ sessions, audit }: CommandContext, { id }: User): Promise<void> {
  const ended = await sessions.revokeAllOf(id);
  await audit(
    ended.map((session) => ({
      event: 'session_revoked',
      outcome: 'success',
      actor: commandLine,
      subject: id,
      session,
      target: { type: 'session', id: session },
    })),
  );
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
export async function translatingManaged<T>(user: User, change: Promise<T>): Promise<T> {
  return change.catch((error) => {
    throw isRefusal(error, 'managed') ? isManaged(user) : error;
  });
}

function isManaged({ username }: User): Failure {
  return new Failure('failed', `${JSON.stringify(username)} is kept by the configuration: change it there`);
}
