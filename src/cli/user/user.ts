import { operator } from '../../administration/caller.ts';
import { inviteUser as invite } from '../../administration/invitations.ts';
import {
  assertUnmanaged,
  changeUser,
  createUser,
  liftThrottle,
  removeUser as remove,
} from '../../administration/users.ts';
import { createLoginThrottle } from '../../credentials/throttle.ts';
import { isRefusal, Refusal } from '../../errors.ts';
import { loginLimits } from '../../gateway/login-limits.ts';
import { jsonText } from '../../log/json-text.ts';
import { accountNameRules, canonicalAccountName, parseUsername } from '../../rules/account-name.ts';
import { isEmailAddress, maxEmailLength } from '../../rules/email-address.ts';
import { administratorSetId } from '../../stores/scope-set.ts';
import type { User } from '../../stores/user.ts';
import type { KeysOfRemoved } from '../../stores/user-records.ts';
import { type Call, Failure } from '../command.ts';
import { refusedAs } from '../failures.ts';
import { requireScopeSets, requireScopes, requireUser } from '../lookups.ts';
import { readNewPassword, readPasswordHash } from '../password.ts';
import { printResult, readableTime, tell } from '../terminal.ts';
import { type CommandContext, withStores } from '../with-stores.ts';
import { tellOfNoScopes } from './no-scopes.ts';
import { changeNamedUser, isKept, neverSignsIn, presentUserByNames, withNamedUser } from './with-user.ts';

/** `user add NAME`: creates a user and prints the id. */
export async function addUser(call: Call): Promise<void> {
  const username = requireUsername(call.operands[0]!);
  const canonicalName = canonicalAccountName(username);
  const isTaken = () => new Failure('failed', `user ${jsonText(username)} already exists`);
  const profile = profileOf(call);
  const [first, second] = passwordOptions.filter((option) => call.isSet(option));
  if (second !== undefined) throw new Failure('usage', `--${first} and --${second} exclude each other`);
  await withStores(call, async (context) => {
    const { config, records } = context;
    const scopes = requireScopes(context, call.text('scopes') ?? '');
    const sets = await requireScopeSets(context, call.texts('scope-set'));
    // Checked before a password is typed twice; the name may still be taken afterwards.
    if ((await records.findUserByName(canonicalName)) !== undefined) throw isTaken();
    const setIds = [...sets.map(({ id }) => id), ...(call.isSet('admin') ? [administratorSetId] : [])];
    const made = await createUser(context, operator, {
      username,
      displayName: profile.displayName ?? null,
      email: profile.email ?? null,
      passwordHash: await passwordHashOf(call, config, username),
      kind: call.isSet('service') ? 'service' : 'person',
      scopes,
      scopeSets: setIds,
      disabled: false,
    }).catch(async (error) => {
      if (!isRefusal(error, 'conflict')) throw error;
      // A scope set may have been removed in the meantime: then this throws first.
      await requireScopeSets(context, call.texts('scope-set'));
      throw isTaken();
    });
    const shown = presentUserByNames(made, context);
    await printResult(call, shown, made.user.id);
    tell(call, `${jsonText(username)} is created`);
    tellOfNoScopes(call, context, shown);
  });
}

const passwordOptions = ['service', 'without-password', 'password-hash'] as const;

/** The hash of a password that is read, or the hash that is read itself; null for a user without a password. */
async function passwordHashOf(
  call: Call,
  config: CommandContext['config'],
  username: string,
): Promise<string | null> {
  if (call.isSet('service') || call.isSet('without-password')) return null;
  return call.isSet('password-hash') ? readPasswordHash(call) : readNewPassword(call, config, username);
}

/** `user set NAME`: replaces the fields that options name. */
export async function setUser(call: Call): Promise<void> {
  const names = call.texts('scope-set').filter((name) => name !== '');
  const replacesSets = call.texts('scope-set').length > 0;
  const scopes = call.text('scopes');
  const profile = profileOf(call);
  const isMadeAdmin = call.isSet('admin');
  if (scopes === undefined && !replacesSets && !isMadeAdmin && Object.keys(profile).length === 0)
    throw new Failure('usage', 'user set needs --scopes, --scope-set, --admin, --display-name or --email');
  const change = async (context: CommandContext, user: User) => {
    const sets = (await requireScopeSets(context, names)).map(({ id }) => id);
    const kept = replacesSets ? sets : await setsOf(context, user);
    const scopeSets = isMadeAdmin ? [...new Set([...kept, administratorSetId])] : kept;
    return changeUser(context, operator, user.id, {
      ...profile,
      ...(scopes !== undefined && { scopes: requireScopes(context, scopes) }),
      ...((replacesSets || isMadeAdmin) && { scopeSets }),
    }).catch(async (error) => {
      // If a scope set was removed in the meantime, this names it.
      if (isRefusal(error, 'conflict')) await requireScopeSets(context, names);
      throw error;
    });
  };
  await changeNamedUser(call, change, ({ username, effective_scopes }) => {
    const held = effective_scopes.join(' ');
    return `${jsonText(username)} is changed, and holds ${held === '' ? 'no scopes' : held}`;
  });
}

/** Ids of the scope sets that the user holds now, without those that a provider grants. */
async function setsOf({ records }: CommandContext, { id }: User): Promise<readonly string[]> {
  return (await records.findUser(id))?.user.scopeSets ?? [];
}

/** `user set-password NAME`: sets a new password and ends the user's sessions. */
export async function setPassword(call: Call): Promise<void> {
  const change = async (context: CommandContext, user: User) => {
    if (user.kind === 'service')
      throw new Failure('failed', `${jsonText(user.username)} is a service, which has no password`);
    // Checked before a password is typed twice.
    assertUnmanaged({ user });
    const passwordHash = await readNewPassword(call, context.config, user.username);
    return changeUser(context, operator, user.id, { passwordHash });
  };
  await changeNamedUser(
    call,
    change,
    ({ username }) => `${jsonText(username)} has a new password, and all sessions of this user have ended`,
  );
}

/** `user disable NAME`: ends the sessions and suspends the keys. */
export async function disableUser(call: Call): Promise<void> {
  await changeNamedUser(
    call,
    (context, user) => changeUser(context, operator, user.id, { disabled: true }),
    ({ username }) =>
      `${jsonText(username)} is disabled: all sessions have ended, and API keys are suspended`,
  );
}

/** `user enable NAME`: reactivates the user's keys; a user who has left the configuration is no longer managed then. */
export async function enableUser(call: Call): Promise<void> {
  const change = (context: CommandContext, user: User) => {
    const changes = { disabled: false, managed: false };
    return changeUser(context, operator, user.id, changes, { assertFree: assertNotKept(context) });
  };
  await changeNamedUser(
    call,
    change,
    ({ username }) => `${jsonText(username)} is enabled: sign-in and API keys work again`,
  );
}

/** `user remove NAME`: deletes the user and, unless they are kept or given to another user, the keys. */
export async function removeUser(call: Call): Promise<void> {
  if (call.isSet('keep-keys') && call.text('transfer-keys') !== undefined)
    throw new Failure('usage', '--keep-keys and --transfer-keys exclude each other');
  const change = async (context: CommandContext, user: User) => {
    const keys = await keysOf(call, context, user);
    const removed = await remove(context, operator, user.id, keys, {
      judge({ newOwner }) {
        if (typeof keys === 'object' && newOwner?.user.disabled !== false)
          throw new Failure('failed', 'the user of --transfer-keys is disabled, or was removed');
      },
      assertFree: assertNotKept(context),
    });
    return removed.found;
  };
  const newOwner = call.text('transfer-keys');
  const given = newOwner === undefined ? 'are kept, without an owner' : `belong to ${jsonText(newOwner)} now`;
  const isKeeping = newOwner !== undefined || call.isSet('keep-keys');
  await changeNamedUser(call, change, ({ username }) => {
    const who = jsonText(username);
    return isKeeping
      ? `${who} is removed, with all sessions; API keys of this user ${given}`
      : `${who} is removed, with all sessions and API keys`;
  });
}

/** Creates the check that refuses with `managed` for a user whom this configuration still manages. */
function assertNotKept({ config }: CommandContext): (found: { readonly user: User }) => void {
  return ({ user }) => {
    if (isKept(user, config)) throw new Refusal('managed');
  };
}

/** The choice for the keys of a user to be removed; rejects with Failure. */
async function keysOf(call: Call, context: CommandContext, { id }: User): Promise<KeysOfRemoved> {
  const name = call.text('transfer-keys');
  if (name === undefined) return call.isSet('keep-keys') ? 'keep' : 'delete';
  const newOwner = await requireUser(context, name);
  if (newOwner.id === id) throw new Failure('failed', '--transfer-keys must name another user');
  return { transferTo: newOwner.id };
}

/** A new user's name in its stored form; throws Failure `usage`. */
function requireUsername(raw: string): string {
  const name = parseUsername(raw);
  if (typeof name === 'string') return name;
  throw new Failure('usage', `a user name ${accountNameRules[name.problem]}`);
}

/** `user invite NAME`: prints, this one time, the address of a page where the user sets a password, or a token for it. */
export async function inviteUser(call: Call): Promise<void> {
  await withNamedUser(call, async (context, user) => {
    const { token, expires } = await invite(context, operator, user.id).catch(
      refusedAs('conflict', neverSignsIn(user)),
    );
    const { web, base_url: baseUrl, api_path: apiPath } = context.config;
    // A fragment is never sent to a server.
    const url = web === undefined ? undefined : `${baseUrl}${web.path}/invitation#token=${token}`;
    const use = url === undefined ? `: POST ${apiPath}/login/invitation {"token","password"}` : ' there';
    call.terminal.stderr.write(
      `postern: until ${readableTime(expires)} ${jsonText(user.username)} sets a password${use}\n`,
    );
    const shown = { token, expires: new Date(expires).toISOString(), ...(url !== undefined && { url }) };
    await printResult(call, shown, url ?? token);
    const record = await context.records.findUserRecord(user.id);
    if (record !== undefined) tellOfNoScopes(call, context, presentUserByNames(record, context));
  });
}

/** `user unlock NAME`: forgets the failed sign-ins of the user; those counted by address alone remain. */
export async function unlockUser(call: Call): Promise<void> {
  const change = async (context: CommandContext, user: User) => {
    const throttle = createLoginThrottle(context.attempts, loginLimits(context.config));
    const reason = 'failed sign-ins are counted in the session store, which is unavailable';
    return liftThrottle(context, throttle, operator, user.id).catch(
      refusedAs('store_unavailable', `${reason}: nothing was lifted`),
    );
  };
  await changeNamedUser(
    call,
    change,
    ({ username }) => `the failed sign-ins of ${jsonText(username)} are forgotten`,
  );
}

/** Maximum length of a display name in code points, as in the HTTP API. */
const maxTextLength = 256;

/** The profile in `--display-name` and `--email`; an empty text clears the field. Throws Failure `usage`. */
function profileOf(call: Call): { displayName?: string | null; email?: string | null } {
  const displayName = textOf(call, 'display-name');
  const email = textOf(call, 'email');
  if (typeof email === 'string' && !isEmailAddress(email))
    throw new Failure('usage', `--email must be one e-mail address of at most ${maxEmailLength} characters`);
  return { ...(displayName !== undefined && { displayName }), ...(email !== undefined && { email }) };
}

function textOf(call: Call, option: string): string | null | undefined {
  const text = call.text(option)?.trim();
  if (text === undefined) return undefined;
  if (text === '') return null;
  if (!text.isWellFormed() || /\p{Cc}/u.test(text))
    throw new Failure('usage', `--${option} must be Unicode without control characters`);
  if ([...text].length > maxTextLength)
    throw new Failure('usage', `--${option} must have at most ${maxTextLength} characters`);
  return text;
}
