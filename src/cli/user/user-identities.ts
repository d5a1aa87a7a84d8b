import { operator } from '../../administration/caller.ts';
import { userEvent } from '../../administration/user-events.ts';
import type { Identity } from '../../stores/identity.ts';
import type { User } from '../../stores/user.ts';
import type { UserRecord } from '../../stores/user-records.ts';
import { type Call, Failure } from '../command.ts';
import type { CommandContext } from '../with-stores.ts';
import { assertUnmanaged, endSessions, isGone, isRefusal, withUser } from './user-changes.ts';

/** `user link NAME`: sign-ins by that identity are this user's from now on. */
export async function linkIdentity(call: Call): Promise<void> {
  await withUser(call, async (context, user) => {
    const identity = requireIdentity(call, context);
    const linked = await context.records
      .linkUserIdentity(user.id, {
        caller: operator.ref,
        decide(found) {
          if (found.user.kind === 'service')
            throw new Failure(
              'failed',
              `${JSON.stringify(user.username)} is a service, which never signs in`,
            );
          assertUnmanaged(found);
          return identity;
        },
        audit: context.audit.withChange(operator, eventOf('identity_linked', call)),
      })
      .catch(async (error: unknown) => {
        if (!isRefusal(error, 'conflict')) throw error;
        const found = await recordOf(context, user);
        if (found.identities.some((linked) => isSame(linked, identity))) return found;
        const cure = 'unlink it there, or remove that user';
        throw new Failure('failed', `that identity is another user’s: ${cure}`, error);
      });
    if (linked === undefined) throw isGone(user);
    return recordOf(context, user);
  });
}

/** `user unlink NAME`: the identity no longer signs in as this user, and the user's sessions end. */
export async function unlinkIdentity(call: Call): Promise<void> {
  await withUser(call, async (context, user) => {
    const unlinked = await context.records.unlinkUserIdentity(user.id, requireIdentity(call, context), {
      caller: operator.ref,
      decide: assertUnmanaged,
      audit: context.audit.withChange(operator, eventOf('identity_unlinked', call)),
    });
    if (unlinked === undefined)
      throw new Failure('failed', `${JSON.stringify(user.username)} has no such identity`);
    await endSessions(context, user);
    return recordOf(context, user);
  });
}

function eventOf(event: 'identity_linked' | 'identity_unlinked', call: Call) {
  const provider = call.requireText('provider');
  return (found: UserRecord) => [
    { ...userEvent(event, found), provider, changes: { fields: ['identities'] } },
  ];
}

function isSame(one: Identity, other: Identity): boolean {
  return one.issuer === other.issuer && one.subject === other.subject;
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
