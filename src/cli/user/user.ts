import { uuidv7 } from 'uuidv7';
import { operator } from '../../administration/caller.ts';
import { createdUserEvents, removedUserEvents } from '../../administration/user-events.ts';
import { accountNameRules, canonicalAccountName, parseUsername } from '../../rules/account-name.ts';
import { administratorSetId } from '../../stores/scope-set.ts';
import type { User } from '../../stores/user.ts';
import type { KeysOfRemoved, NewUserRecord } from '../../stores/user-records.ts';
import { type Call, Failure } from '../command.ts';
import { requireScopeSets, requireScopes, requireUser } from '../lookups.ts';
import { readNewPassword, readPasswordHash } from '../password.ts';
import { presentUserByNames } from '../present.ts';
import { printResult } from '../terminal.ts';
import { type CommandContext, withStores } from '../with-stores.ts';
import {
  assertNotKept,
  assertUnmanaged,
  changeUser,
  endSessions,
  isGone,
  isRefusal,
  withUser,
} from './user-changes.ts';
import { profileOf } from './user-profile.ts';

/** `user add NAME`: a new user, whose id is the result. */
export async function addUser(call: Call): Promise<void> {
  const username = requireUsername(call.operands[0]!);
  const canonicalName = canonicalAccountName(username);
  const isTaken = () => new Failure('failed', `user ${JSON.stringify(username)} already exists`);
  const profile = profileOf(call);
  assertOnePassword(call);
  await withStores(call, async (context) => {
    const { config, records, audit, now } = context;
    const scopes = requireScopes(context, call.text('scopes') ?? '');
    const sets = await requireScopeSets(context, call.texts('scope-set'));
    // Now, not after a password has been typed twice; what counts is the response of createUserRecord.
    if ((await records.findUserByName(canonicalName)) !== undefined) throw isTaken();
    const setIds = [...sets.map(({ id }) => id), ...(call.isSet('admin') ? [administratorSetId] : [])];
    const isService = call.isSet('service');
    const user: NewUserRecord['user'] = {
      id: uuidv7(),
      username,
      displayName: profile.displayName ?? null,
      email: profile.email ?? null,
      passwordHash: await passwordHashOf(call, config, username),
      kind: isService ? 'service' : 'person',
      scopes,
      scopeSets: [...new Set(setIds)].sort(),
      disabled: false,
      created: now(),
      lastLogin: null,
    };
    const made = await records
      .createUserRecord({
        caller: operator.ref,
        decide: () => ({ user, canonicalName }),
        audit: audit.withChange(operator, createdUserEvents),
      })
      .catch(async (error) => {
        if (!isRefusal(error, 'conflict')) throw error;
        // Else it is a scope set that was removed in the meantime: this throws, too.
        await requireScopeSets(context, call.texts('scope-set'));
        throw isTaken();
      });
    await printResult(call, presentUserByNames(made, context), made.user.id);
  });
}

const passwordOptions = ['service', 'without-password', 'password-hash'] as const;

function assertOnePassword(call: Call): void {
  const [first, second] = passwordOptions.filter((option) => call.isSet(option));
  if (second !== undefined) throw new Failure('usage', `--${first} and --${second} exclude each other`);
}

/** The hash of the password that is read, or the hash that is; null where there is none. */
async function passwordHashOf(
  call: Call,
  config: CommandContext['config'],
  username: string,
): Promise<string | null> {
  if (call.isSet('service') || call.isSet('without-password')) return null;
  return call.isSet('password-hash') ? readPasswordHash(call) : readNewPassword(call, config, username);
}

/** `user set NAME`: what is named is replaced, all else stays. */
export async function setUser(call: Call): Promise<void> {
  const names = call.texts('scope-set').filter((name) => name !== '');
  const replacesSets = call.texts('scope-set').length > 0;
  const scopes = call.text('scopes');
  const profile = profileOf(call);
  if (scopes === undefined && !replacesSets && Object.keys(profile).length === 0)
    throw new Failure('usage', 'user set needs --scopes, --scope-set, --display-name or --email');
  await withUser(call, async (context, user) => {
    const sets = await requireScopeSets(context, names);
    return changeUser(context, user, {
      ...profile,
      ...(scopes !== undefined && { scopes: requireScopes(context, scopes) }),
      ...(replacesSets && { scopeSets: [...new Set(sets.map(({ id }) => id))].sort() }),
    }).catch(async (error) => {
      // A scope set was removed in the meantime: this says which.
      if (isRefusal(error, 'conflict')) await requireScopeSets(context, names);
      throw error;
    });
  });
}

/** `user set-password NAME`: sessions that began with the old password end. */
export async function setPassword(call: Call): Promise<void> {
  await withUser(call, async (context, user) => {
    if (user.kind === 'service')
      throw new Failure('failed', `${JSON.stringify(user.username)} is a service, which has no password`);
    // Before a password is typed twice.
    assertUnmanaged({ user });
    const passwordHash = await readNewPassword(call, context.config, user.username);
    const changed = await changeUser(context, user, { passwordHash });
    await endSessions(context, user);
    return changed;
  });
}

/** `user disable NAME`: ends the sessions and suspends the keys. */
export async function disableUser(call: Call): Promise<void> {
  await withUser(call, async (context, user) => {
    const changed = await changeUser(context, user, { disabled: true });
    await endSessions(context, user);
    return changed;
  });
}

/** `user enable NAME`: reactivates the keys; one who has left the configuration is no longer managed then. */
export async function enableUser(call: Call): Promise<void> {
  await withUser(call, (context, user) =>
    changeUser(context, user, { disabled: false, managed: false }, assertNotKept(context)),
  );
}

/** `user remove NAME`: deletes the user and, unless they are kept or given to another user, the keys. */
export async function removeUser(call: Call): Promise<void> {
  if (call.isSet('keep-keys') && call.text('transfer-keys') !== undefined)
    throw new Failure('usage', '--keep-keys and --transfer-keys exclude each other');
  await withUser(call, async (context, user) => {
    const { records, audit } = context;
    const keys = await keysOf(call, context, user);
    const removed = await records.removeUserRecord(user.id, keys, {
      caller: operator.ref,
      decide({ found, newOwner }) {
        assertNotKept(context)(found);
        if (typeof keys === 'object' && newOwner?.user.disabled !== false)
          throw new Failure('failed', 'the user of --transfer-keys is disabled, or was removed');
      },
      audit: audit.withChange(operator, removedUserEvents),
    });
    if (removed === undefined) throw isGone(user);
    await endSessions(context, user);
    return removed.found;
  });
}

/** What becomes of the keys of a user who is removed; throws Failure. */
async function keysOf(call: Call, context: CommandContext, { id }: User): Promise<KeysOfRemoved> {
  const name = call.text('transfer-keys');
  if (name === undefined) return call.isSet('keep-keys') ? 'keep' : 'delete';
  const newOwner = await requireUser(context, name);
  if (newOwner.id === id) throw new Failure('failed', '--transfer-keys must name another user');
  return { transferTo: newOwner.id };
}

/** A new user's name as it is kept; throws Failure `usage`. */
function requireUsername(raw: string): string {
  const name = parseUsername(raw);
  if (typeof name === 'string') return name;
  throw new Failure('usage', `a user name ${accountNameRules[name.problem]}`);
}
