import type { PendingEnding } from '../promises/endings.ts';
import { ModelledUser } from '../promises/records.ts';
import type { PendingWrite } from '../promises/register.ts';
import { type Acting, anyUser, asSession, type Operate, ownSession } from './acting.ts';
import { someOf } from './script.ts';
import { asRoot, expectEvents, settle } from './world.ts';

/** What every user holds besides: without it no one mints. */
const always = ['apikeys:read', 'apikeys:write'];

/** Changes one field of a user, as an administrator. */
async function patchUser(
  acting: Acting,
  user: ModelledUser,
  field: object,
  { event, isOptional, changes }: PatchOfUser,
): Promise<void> {
  const { world } = acting;
  const received = await acting.request({
    what: `patch of ${user.name}: ${JSON.stringify(field)}`,
    about: [user],
    isChange: true,
    call: { method: 'PATCH', path: `/api/admin/users/${user.id}`, headers: asRoot(world), json: field },
    statuses: [200, 404],
  });
  const { status, made } = received;
  settle(world, received, status === 200, ...changes);
  if (status === 404 && !user.removal.mayHaveEnded(made.to, user.made.from))
    world.history.violated('a user who was acknowledged is missing', made.to, [user]);
  expectEvents(world, received, status === 200, [{ event, target: user.id }], isOptional);
}

interface PatchOfUser {
  readonly event: string;
  /** It may change nothing, and then leaves no event. */
  readonly isOptional: boolean;
  readonly changes: readonly (PendingWrite | PendingEnding)[];
}

export const disableOrEnable: Operate = async (acting) => {
  const { world, random } = acting;
  const user = anyUser(acting);
  // More often enabled than not: the rest of the run needs people.
  const isDisabling = random.oneIn(4);
  const disabled = !user.disabled.latest() && isDisabling;
  const from = world.now();
  const changes: (PendingWrite | PendingEnding)[] = [user.disabled.begin(disabled, from)];
  if (disabled) changes.push(user.sessionEndings.begin('the user was disabled', from));
  const event = disabled ? 'user_disabled' : 'user_enabled';
  await patchUser(acting, user, { disabled }, { event, isOptional: true, changes });
};

export const changeScopes: Operate = async (acting) => {
  const { world, random } = acting;
  const user = anyUser(acting);
  const scopes = [...someOf(random, world.catalogue), ...always];
  const changes = [user.scopes.begin(scopes, world.now())];
  await patchUser(acting, user, { scopes }, { event: 'user_changed', isOptional: true, changes });
};

export const changeSetsOfUser: Operate = async (acting) => {
  const { world, random } = acting;
  const user = anyUser(acting);
  const sets = someOf(random, [...world.records.sets.keys()]);
  const changes = [user.sets.begin(sets, world.now())];
  await patchUser(acting, user, { scope_sets: sets }, { event: 'user_changed', isOptional: true, changes });
};

/** Sets a password as an administrator: every session ends. */
export const resetPassword: Operate = async (acting) => {
  const { world } = acting;
  const user = anyUser(acting);
  const from = world.now();
  const password = newPassword(acting, user);
  const changes = [
    user.password.begin(password, from),
    user.sessionEndings.begin('the password was reset', from),
  ];
  await patchUser(acting, user, { password }, { event: 'password_changed', isOptional: false, changes });
};

/** Passwords must not be like the user's name, nor among the common ones. */
function newPassword({ world, random }: Acting, user: ModelledUser): string {
  user.earlierPasswords.push(user.password.latest());
  if (user.earlierPasswords.length > 5) user.earlierPasswords.shift();
  return `a phrase of ${Math.round(world.now())} and ${random.below(1e9)}`;
}

/** Changes one's own password: every other session ends. */
export const changeOwnPassword: Operate = async (acting) => {
  const { world } = acting;
  const session = ownSession(acting);
  if (session === undefined) return;
  const { user } = session;
  const from = world.now();
  const current = user.password.latest();
  const password = newPassword(acting, user);
  const changes = [
    user.password.begin(password, from),
    user.sessionEndings.begin('the password was changed by another session', from, session),
  ];
  const received = await acting.request({
    what: `${user.name} changes the password`,
    about: [session, user],
    isChange: true,
    call: {
      method: 'PUT',
      path: '/api/self/password',
      headers: asSession(session),
      json: { current_password: current, new_password: password },
    },
    statuses: [204, 401, 403],
    mayBeCut: ({ to }) => world.judge.mayBeOver(session, to),
  });
  const { status, made } = received;
  settle(world, received, status === 204, ...changes);
  const since = world.judge.knownSince(['records'], made.from);
  let problem: string | null = null;
  const mayBeRefused =
    world.judge.mayBeOver(session, made.to) || world.judge.mayBeExpired(session.token, made.to);
  if (status === 401 && !mayBeRefused) problem = 'the session is alive';
  if (status === 403 && user.password.possible(since, made.to).every((one) => one === current))
    problem = 'the current password is right';
  if (problem !== null)
    world.history.violated(`own password: refused, though ${problem}`, made.to, [session, user]);
  expectEvents(world, received, status === 204, [{ event: 'password_changed', target: user.id }]);
};

/** Changes what a scope set gives to all its holders. */
export const changeSet: Operate = async (acting) => {
  const { world, random } = acting;
  const set = random.pick([...world.records.sets.values()]);
  const scopes = someOf(random, world.catalogue);
  const change = set.scopes.begin(scopes, world.now());
  const received = await acting.request({
    what: `patch of ${set.name}: ${JSON.stringify(scopes)}`,
    about: [set],
    isChange: true,
    call: {
      method: 'PATCH',
      path: `/api/admin/scope-sets/${set.id}`,
      headers: asRoot(world),
      json: { scopes },
    },
    statuses: [200],
  });
  settle(world, received, received.status === 200, change);
  const events = [{ event: 'scope_set_changed', target: set.id }];
  expectEvents(world, received, received.status === 200, events, true);
};

/** Makes a user of this client's own, in a place that is empty or whose user it removes first. */
export const replaceUser: Operate = async (acting) => {
  const { world, client, random } = acting;
  const { users } = world.places[client]!;
  const place = random.below(users.length);
  const former = users[place];
  const heir = random.oneIn(2) ? random.pick(world.sharedUsers) : undefined;
  const scopes = [...someOf(random, world.catalogue, 1), ...always];
  if (former !== undefined) {
    await removeUser(acting, former, heir);
    users[place] = undefined;
    return;
  }
  const name = `user ${client} ${Math.round(world.now())}`;
  const password = `a phrase of ${random.below(1e9)} and more`;
  const received = await acting.request({
    what: `creation of ${name}`,
    about: [],
    isChange: true,
    isMaking: true,
    call: {
      method: 'POST',
      path: '/api/admin/users/',
      headers: asRoot(world),
      json: { username: name, password, scopes },
    },
    statuses: [201],
  });
  const { status, made, json, operation } = received;
  if (status === 201) {
    const user = new ModelledUser({ id: json.id, name, password, scopes, sets: [] }, made);
    world.records.users.set(user.id, user);
    world.history.made(user, operation);
    users[place] = user;
  }
  const events = status === 201 ? [{ event: 'user_created', target: json.id }] : [];
  expectEvents(world, received, status === 201, events);
};

/** Removes a user, with the keys, or transfers these to `heir`. Only this client makes keys for that user. */
async function removeUser(acting: Acting, user: ModelledUser, heir?: ModelledUser): Promise<void> {
  const { world } = acting;
  const from = world.now();
  const keys = [...world.records.keys.values()].filter(({ owner }) => owner.latest() === user);
  const changes: (PendingWrite | PendingEnding)[] = [
    user.removal.begin('the user was removed', from),
    ...keys.map(({ endings, owner }) =>
      heir === undefined ? endings.begin('removed with its owner', from) : owner.begin(heir, from),
    ),
  ];
  const what = heir === undefined ? 'delete' : `transfer:${heir.id}`;
  const received = await acting.request({
    what: `removal of ${user.name}, keys ${heir === undefined ? 'deleted' : `to ${heir.name}`}`,
    about: [user, ...keys],
    isChange: true,
    call: {
      method: 'DELETE',
      path: `/api/admin/users/${user.id}?keys=${what}`,
      headers: asRoot(world),
    },
    // A transfer is judged as minting for the new owner, and no one disabled gets any.
    statuses: heir === undefined ? [204, 404] : [204, 403, 404, 422],
  });
  const { status, made } = received;
  settle(world, received, status === 204, ...changes);
  if (status === 404 && !user.removal.mayHaveEnded(made.to, user.made.from))
    world.history.violated('a user who was acknowledged is missing', made.to, [user]);
  expectEvents(world, received, status === 204, [{ event: 'user_removed', target: user.id }]);
}
