import { uuidv7 } from 'uuidv7';
import { canonicalAccountName } from '../credentials/account-name.ts';
import { Refusal } from '../errors.ts';
import { administratorSetId, type User } from '../stores/records.ts';
import { requireUsername } from './accounts.ts';
import type { Call } from './command.ts';
import { Failure } from './failure.ts';
import { printResult } from './output.ts';
import { readPasswordHash } from './passwords.ts';
import { presentUsers } from './present-users.ts';
import { requireScopeSets, requireScopes } from './scopes.ts';
import { withStores } from './with-stores.ts';

/** `user add NAME`: a new user, whose id is the result. */
export async function addUser(call: Call): Promise<void> {
  const username = requireUsername(call.operands[0]!);
  const canonicalName = canonicalAccountName(username);
  const isTaken = () => new Failure('failed', `there is a user ${JSON.stringify(username)} already`);
  await withStores(call, async (workplace) => {
    const { config, records, audit, now } = workplace;
    const scopes = requireScopes(workplace, call.text('scopes') ?? '');
    const sets = await requireScopeSets(workplace, call.texts('scope-set'));
    // Now, not after a password has been typed twice; what counts is the answer of createUser.
    if ((await records.findUserByName(canonicalName)) !== undefined) throw isTaken();
    const setIds = [...sets.map(({ id }) => id), ...(call.isSet('admin') ? [administratorSetId] : [])];
    const user: User = {
      id: uuidv7(),
      username,
      displayName: null,
      email: null,
      passwordHash: await readPasswordHash(call, config),
      scopes,
      scopeSets: [...new Set(setIds)],
      disabled: false,
      created: now(),
      lastLogin: null,
    };
    try {
      await records.createUser(user, canonicalName);
    } catch (error) {
      throw error instanceof Refusal && error.code === 'conflict' ? isTaken() : error;
    }
    audit({ event: 'user_created', subject: user.id });
    const [presented] = await presentUsers(workplace, [user]);
    await printResult(call, presented, user.id);
  });
}
