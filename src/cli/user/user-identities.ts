import { operator } from '../../administration/caller.ts';
import {
  linkIdentity as link,
  type ProviderIdentity,
  unlinkIdentity as unlink,
} from '../../administration/user-identities.ts';
import { isRefusal } from '../../errors.ts';
import { jsonText } from '../../log/json-text.ts';
import type { Identity } from '../../stores/identity.ts';
import type { User } from '../../stores/user.ts';
import type { UserRecord } from '../../stores/user-records.ts';
import { type Call, Failure } from '../command.ts';
import { refusedAs } from '../failures.ts';
import type { CommandContext } from '../with-stores.ts';
import { changeNamedUser, isGone, neverSignsIn } from './with-user.ts';

/** `user link NAME`: links an identity, which signs in as this user from now on. */
export async function linkIdentity(call: Call): Promise<void> {
  const change = async (context: CommandContext, user: User) => {
    const identity = requireIdentity(call, context);
    if (user.kind === 'service') throw new Failure('failed', neverSignsIn(user));
    await link(context, operator, user.id, identity).catch(async (error: unknown) => {
      if (!isRefusal(error, 'conflict')) throw error;
      const { identities } = await recordOf(context, user);
      if (identities.some((linked) => isSame(linked, identity))) return;
      const cure = 'unlink it there, or remove that user';
      throw new Failure('failed', `that identity is another user's: ${cure}`, error);
    });
    return recordOf(context, user);
  };
  await changeNamedUser(
    call,
    change,
    ({ username }) => `${identityIn(call)} signs in as ${jsonText(username)}`,
  );
}

/** `user unlink NAME`: the identity no longer signs in as this user, and the user's sessions end. */
export async function unlinkIdentity(call: Call): Promise<void> {
  const change = async (context: CommandContext, user: User) => {
    await unlink(context, operator, user.id, requireIdentity(call, context)).catch(
      refusedAs('not_found', `${jsonText(user.username)} has no such identity`),
    );
    return recordOf(context, user);
  };
  await changeNamedUser(call, change, ({ username }) => {
    const who = jsonText(username);
    return `${identityIn(call)} no longer signs in as ${who}, and all sessions of this user have ended`;
  });
}

/** The identity that the options name, in words. */
function identityIn(call: Call): string {
  return `${jsonText(call.requireText('subject'))} of ${call.requireText('provider')}`;
}

function isSame(one: Identity, other: Identity): boolean {
  return one.issuer === other.issuer && one.subject === other.subject;
}

async function recordOf({ records }: CommandContext, user: User): Promise<UserRecord> {
  const record = await records.findUserRecord(user.id);
  if (record === undefined) throw isGone(user);
  return record;
}

/** The identity that the options name; throws Failure if they don't name one. */
function requireIdentity(call: Call, { config }: CommandContext): ProviderIdentity {
  const provider = call.requireText('provider');
  const subject = call.requireText('subject');
  if (subject.trim() === '') throw new Failure('usage', '--subject must not be empty');
  if (!Object.hasOwn(config.identity_providers, provider))
    throw new Failure('failed', `there is no identity provider ${jsonText(provider)}`);
  return { provider, issuer: config.identity_providers[provider]!.issuer, subject };
}
