import { Refusal } from '../errors.ts';
import type { Identity } from '../stores/records.ts';
import { endSessions } from './accounts.ts';
import type { Call } from './command.ts';
import { Failure } from './failure.ts';
import type { Workplace } from './with-stores.ts';
import { isGone, withUser } from './with-user.ts';

/** `user link NAME`: from now on whoever signs in by that identity is this user. */
export async function linkIdentity(call: Call): Promise<void> {
  await withUser(call, async (workplace, user) => {
    const { records, audit, now } = workplace;
    const identity = requireIdentity(call, workplace);
    try {
      if (!(await records.linkIdentity(user.id, identity, now()))) throw isGone(user);
    } catch (error) {
      if (!(error instanceof Refusal && error.code === 'conflict')) throw error;
      throw new Failure('failed', 'that identity is another user’s: unlink it there, or remove that user');
    }
    audit({ event: 'identity_linked', subject: user.id, provider: call.requireText('provider') });
    return user;
  });
}

/** `user unlink NAME`: nobody is this user by that identity any more, and who was no longer is signed in. */
export async function unlinkIdentity(call: Call): Promise<void> {
  await withUser(call, async (workplace, user) => {
    const identity = requireIdentity(call, workplace);
    if (!(await workplace.records.unlinkIdentity(user.id, identity)))
      throw new Failure('failed', `${JSON.stringify(user.username)} has no such identity`);
    workplace.audit({ event: 'identity_unlinked', subject: user.id, provider: call.requireText('provider') });
    await endSessions(workplace, user);
    return user;
  });
}

/** Who the options name; throws Failure. */
function requireIdentity(call: Call, { config }: Workplace): Identity {
  const name = call.requireText('provider');
  const subject = call.requireText('subject');
  if (subject.trim() === '') throw new Failure('usage', '--subject must not be empty');
  if (!Object.hasOwn(config.identity_providers, name))
    throw new Failure('failed', `there is no identity provider ${JSON.stringify(name)}`);
  return { issuer: config.identity_providers[name]!.issuer, subject };
}
