import { uuidv7 } from 'uuidv7';
import type { Config } from '../config/schema.ts';
import { canonicalAccountName, parseUsername } from '../credentials/account-name.ts';
import { passwordFault } from '../credentials/password-rules.ts';
import { createPasswordHasher, parsePassword } from '../credentials/passwords.ts';
import { Refusal } from '../errors.ts';
import { maxPasswordBytes, maxUsernameCodePoints } from '../rules/text-limits.ts';
import type { Identity } from '../stores/identity.ts';
import { administratorSetId } from '../stores/scope-set.ts';
import type { NewUser, User, UserChanges } from '../stores/user.ts';
import { type Call, Failure } from './command.ts';
import { allKeysOf, requireScopeSets, requireScopes, requireUser } from './lookups.ts';
import { printJsonAlone, printResult, readPassword, table } from './terminal.ts';
import { type CommandContext, withStores } from './with-stores.ts';

/** `user add NAME`: a new user, whose id is the result. */
export async function addUser(call: Call): Promise<void> {
  const username = requireUsername(call.operands[0]!);
  const canonicalName = canonicalAccountName(username);
  const isTaken = () => new Failure('failed', `user ${JSON.stringify(username)} already exists`);
  await withStores(call, async (context) => {
    const { config, records, audit, now } = context;
    const scopes = requireScopes(context, call.text('scopes') ?? '');
    const sets = await requireScopeSets(context, call.texts('scope-set'));
    // Now, not after a password has been typed twice; what counts is the response of createUser.
    if ((await records.findUserByName(canonicalName)) !== undefined) throw isTaken();
    const setIds = [...sets.map(({ id }) => id), ...(call.isSet('admin') ? [administratorSetId] : [])];
    const user: NewUser = {
      id: uuidv7(),
      username,
      displayName: null,
      email: null,
      passwordHash: await readPasswordHash(call, config, username),
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
    const [presented] = await presentUsers(context, [user]);
    await printResult(call, presented, user.id);
  });
}

/** `user list`: all users by name. */
export async function listUsers(call: Call): Promise<void> {
  await withStores(call, async (context) => {
    const users = await presentUsers(context, await context.records.listUsers());
    const header = ['ID', 'USERNAME', 'STATE', 'LAST LOGIN', 'SCOPE SETS', 'SCOPES'];
    const rows = users.map((user) => [
      user.id,
      user.username,
      user.disabled ? 'disabled' : 'enabled',
      user.last_login ?? 'never',
      user.scope_sets.join(', '),
      user.scopes.join(' '),
    ]);
    await printResult(call, users, table(header, rows));
  });
}

/** `user set-password NAME`: sessions that began with the old password end. */
export async function setPassword(call: Call): Promise<void> {
  await withUser(call, async (context, user) => {
    const passwordHash = await readPasswordHash(call, context.config, user.username);
    const changed = await update(context, user, { passwordHash });
    context.audit({ event: 'password_changed', subject: user.id });
    await endSessions(context, user);
    return changed;
  });
}

/** `user disable NAME`: ends the sessions and suspends the keys. */
export async function disableUser(call: Call): Promise<void> {
  await withUser(call, async (context, user) => {
    const changed = await update(context, user, { disabled: true });
    context.audit({ event: 'user_disabled', subject: user.id });
    await endSessions(context, user);
    return changed;
  });
}

/** `user enable NAME`: reactivates the keys. */
export async function enableUser(call: Call): Promise<void> {
  await withUser(call, async (context, user) => {
    const changed = await update(context, user, { disabled: false });
    context.audit({ event: 'user_enabled', subject: user.id });
    return changed;
  });
}

/** `user remove NAME`: deletes the user and, unless `--keep-keys`, the keys the user minted. */
export async function removeUser(call: Call): Promise<void> {
  await withUser(call, async (context, user) => {
    const keepKeys = call.isSet('keep-keys');
    const keys = keepKeys ? [] : await allKeysOf(context, { createdByEq: user.id });
    if (!(await context.records.removeUser(user.id, { keepKeys }))) throw isGone(user);
    context.audit({ event: 'user_removed', subject: user.id });
    for (const { key } of keys) context.audit({ event: 'api_key_deleted', subject: user.id, key: key.id });
    await endSessions(context, user);
    return user;
  });
}

/** `user link NAME`: sign-ins by that identity are this user's from now on. */
export async function linkIdentity(call: Call): Promise<void> {
  await withUser(call, async (context, user) => {
    const { records, audit, now } = context;
    const identity = requireIdentity(call, context);
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

/** `user unlink NAME`: the identity no longer signs in as this user, and the user's sessions end. */
export async function unlinkIdentity(call: Call): Promise<void> {
  await withUser(call, async (context, user) => {
    const identity = requireIdentity(call, context);
    if (!(await context.records.unlinkIdentity(user.id, identity)))
      throw new Failure('failed', `${JSON.stringify(user.username)} has no such identity`);
    context.audit({ event: 'identity_unlinked', subject: user.id, provider: call.requireText('provider') });
    await endSessions(context, user);
    return user;
  });
}

/** Does `work` on the user whose name is the operand; the user it gives is the result. */
async function withUser(
  call: Call,
  work: (context: CommandContext, user: User) => Promise<User>,
): Promise<void> {
  await withStores(call, async (context) => {
    const user = await work(context, await requireUser(context, call.operands[0]!));
    const [presented] = await presentUsers(context, [user]);
    await printJsonAlone(call, presented);
  });
}

/** The failure when another process removed the user first. */
function isGone({ username }: User): Failure {
  return new Failure('failed', `${JSON.stringify(username)} was removed in the meantime`);
}

async function update({ records }: CommandContext, user: User, changes: UserChanges): Promise<User> {
  const changed = await records.updateUser(user.id, changes);
  if (changed === undefined) throw isGone(user);
  return changed;
}

/** Ends every session of the user, here and in every gateway on the store. */
async function endSessions({ sessions, audit }: CommandContext, { id }: User): Promise<void> {
  for (const session of await sessions.revokeAllOf(id))
    audit({ event: 'session_revoked', subject: id, session });
}

const nameProblems = {
  malformed_unicode: 'must be Unicode',
  too_short: 'must not be empty',
  too_long: `must be at most ${maxUsernameCodePoints} characters`,
  control_character: 'must not contain control characters',
} as const;

/** A new user's name as it is kept; throws Failure `usage`. */
function requireUsername(raw: string): string {
  const name = parseUsername(raw);
  if (typeof name === 'string') return name;
  throw new Failure('usage', `a user name ${nameProblems[name.problem]}`);
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

/** Reads a new password, judges it and gives its hash; throws Failure. */
async function readPasswordHash(
  { terminal }: Call,
  { passwords }: Config,
  username: string,
): Promise<string> {
  const hasher = createPasswordHasher({ ...passwords, memoryBytes: passwords.memory });
  return hasher.hash(
    await readPassword(terminal, (raw) => requirePassword(raw, passwords.min_length, username)),
  );
}

function requirePassword(raw: string, minLength: number, username: string): string {
  const password = parsePassword(raw, minLength);
  if (typeof password === 'string') {
    const fault = passwordFault(password, username);
    if (fault === undefined) return password;
    throw new Failure('failed', `the password ${fault}`);
  }
  const problems = {
    malformed_unicode: 'must be Unicode',
    too_short: `must have at least ${minLength} characters`,
    too_long: `must have at most ${maxPasswordBytes} bytes`,
  } as const;
  throw new Failure('failed', `the password ${problems[password.problem]}`);
}

/** A user as JSON shows it: the field names of the HTTP API, own scopes, and sets by name. */
interface PresentedUser {
  readonly id: string;
  readonly username: string;
  readonly display_name: string | null;
  readonly email: string | null;
  readonly scopes: readonly string[];
  readonly scope_sets: readonly string[];
  readonly disabled: boolean;
  /** Who the user is at identity providers. */
  readonly identities: readonly Identity[];
  /** RFC 3339, as `last_login`. */
  readonly created: string;
  readonly last_login: string | null;
}

/** Users as they are shown: never the password's hash. */
async function presentUsers(
  { records }: CommandContext,
  users: readonly NewUser[],
): Promise<readonly PresentedUser[]> {
  const ids = new Set(users.flatMap(({ scopeSets }) => scopeSets));
  const sets = await records.findScopeSets([...ids]);
  const names = new Map(sets.map(({ id, name }) => [id, name]));
  const identities = await Promise.all(users.map(({ id }) => records.identitiesOf(id)));
  return users.map((user, index) => ({
    id: user.id,
    username: user.username,
    display_name: user.displayName,
    email: user.email,
    scopes: user.scopes,
    scope_sets: user.scopeSets.map((id) => names.get(id) ?? id).sort(),
    disabled: user.disabled,
    identities: identities[index]!.map(({ issuer, subject }) => ({ issuer, subject })),
    created: new Date(user.created).toISOString(),
    last_login: user.lastLogin === null ? null : new Date(user.lastLogin).toISOString(),
  }));
}
