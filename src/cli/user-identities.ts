import { commandLine } from '../log/log.ts';
import type { Identity } from '../stores/identity.ts';
import type { User } from '../stores/user.ts';
import type { UserRecord } from '../stores/user-records.ts';
import { type Call, Failure } from './command.ts';
import { assertUnmanaged, endSessions, isGone, isRefusal, withUser } from './user-changes.ts';
import type { CommandContext } from './with-stores.ts';

/** `user link NAME`: sign-ins by that identity are this user's from now on. */
export async function linkIdentity(call: Call): Promise<void> {
  await withUser(call, async (context, user) => {
    const { records, changeAudit, now } = context;
    const identity = requireIdentity(call, context);
    const audit = changeAudit<void>(() => [entryOf('identity_linked', call, user)]);
    assertUnmanaged({ user });
    try {
      if (!(await records.linkIdentity(user.id, identity, now(), audit))) throw isGone(user);
    } catch (error) {
      if (!isRefusal(error, 'conflict')) throw error;
      throw new Failure('failed', 'that identity is another user’s: unlink it there, or remove that user');
    }
    return recordOf(context, user);
  });
}

/** `user unlink NAME`: the identity no longer signs in as this user, and the user's sessions end. */
export async function unlinkIdentity(call: Call): Promise<void> {
  await withUser(call, async (context, user) => {
    const { records, changeAudit } = context;
    const identity = requireIdentity(call, context);
    const audit = changeAudit<void>(() => [entryOf('identity_unlinked', call, user)]);
    assertUnmanaged({ user });
    if (!(await records.unlinkIdentity(user.id, identity, audit)))
      throw new Failure('failed', `${JSON.stringify(user.username)} has no such identity`);
    await endSessions(context, user);
    return recordOf(context, user);
  });
}

function entryOf(event: 'identity_linked' | 'identity_unlinked', call: Call, { id }: User) {
  return {
    event,
    outcome: 'success',
    actor: commandLine,
    subject: id,
    provider: call.requireText('provider'),
    target: { type: 'user', id },
    changes: { fields: ['identities'] },
  } as const;
}

async function recordOf({ records }: CommandContext, user: User): Promise<UserRecord> {
  const record = await records.findUserRecord(user.id);
  if (record === undefined) throw isGone(user);
  return record;
}

/** Who the options name; throws Failure. */
function requireIdentity(call: Call, { config }: CommandContext): Identity {
  const name = call.requireText('provider');
  const subject = call.requireText('subject');
  if (subject.trim() === '') throw new Failure('usage', '--subject must not be empty');
  if (!Object.hasOwn(config.identity_providers, name))
    throw new Failure('failed', `there is no identity provider ${JSON.stringify(name)}`);
  return { issuer: config.identity_providers[name]!.issuer, subject };
}
