import argon2 from 'argon2';
import { type ChangeMaker, type Prepare, setsPath } from './change-maker.ts';
import { keysPath } from './key-administration.ts';
import { userPassword, usersPath } from './user-administration.ts';

const sessionsPath = '/api/admin/sessions/';

const newPassword = `${userPassword}, another`;
const identity = (subject: string) => ({ provider: 'idp', subject });

/** Removes a user with two keys. */
function removal(query: (make: ChangeMaker) => Promise<string>): Prepare {
  return async (make) => {
    const { id, username } = await make.user();
    await make.keyOf(username);
    await make.keyOf(username);
    const ended = await make.session(username);
    return { request: make.request('DELETE', `${usersPath}${id}${await query(make)}`), ended };
  };
}

/** The users and sets of a configuration: what came before, and what is to be applied. */
const managed: Prepare = async (make) => {
  const [left, kept, fresh] = [make.newName(), make.newName(), make.newName()];
  const [set, freshSet] = [make.newName(), make.newName()];
  const scopes = ['store:read', 'store:write'];
  const hash = (password: string) => argon2.hash(password, { memoryCost: 64, timeCost: 1, parallelism: 1 });
  const password_hash = await hash(userPassword);
  const before = {
    ...make.config,
    scope_sets: { [set]: { scopes } },
    users: {
      [left]: { scopes, password_hash },
      [kept]: { scope_sets: [set], password_hash },
    },
  };
  await make.apply(before);
  const [ended, spared] = [await make.session(left), await make.session(kept)];
  const config = {
    ...make.config,
    scope_sets: { [set]: { scopes: ['store:read'] }, [freshSet]: { scopes } },
    users: {
      [kept]: { display_name: 'Kept', scope_sets: [set], password_hash },
      [fresh]: { scope_sets: [set, freshSet], password_hash: await hash(newPassword) },
    },
  };
  return { request: { config, before }, ended, spared };
};

/** The changes after which a session has ended. */
const endingChanges: Readonly<Record<string, Prepare>> = {
  'a password is set': async (make) => {
    const { id, ended } = await make.userInSession();
    return { request: make.request('PATCH', usersPath + id, { password: newPassword }), ended };
  },
  'a user is disabled': async (make) => {
    const { id, ended } = await make.userInSession();
    return { request: make.request('PATCH', usersPath + id, { disabled: true }), ended };
  },
  'a user is removed with the keys': removal(async () => '?keys=delete'),
  'a user is removed and the keys stay': removal(async () => '?keys=keep'),
  'a user is removed and the keys transferred': removal(
    async (make) => `?keys=transfer:${(await make.user()).id}`,
  ),
  'an invitation is redeemed': async (make) => {
    const { id, ended } = await make.userInSession();
    const { json } = await make.make('POST', `${usersPath}${id}/invitation`);
    const body = { token: json.token, password: newPassword };
    return { request: { method: 'POST', path: '/api/login/invitation', json: body }, ended };
  },
  "a user's sessions are ended": async (make) => {
    const { id, ended } = await make.userInSession();
    return { request: make.request('DELETE', `${sessionsPath}?user=${id}`), ended };
  },
  'all sessions are ended': async (make) => {
    const { ended } = await make.userInSession();
    return { request: make.request('DELETE', `${sessionsPath}?all=true`), ended };
  },
  'users change their own password': async (make) => {
    const { username } = await make.user();
    const [ended, spared] = [await make.session(username), await make.session(username)];
    const json = { current_password: userPassword, new_password: newPassword };
    const request = { method: 'PUT', path: '/api/self/password', bearer: spared.bearer, json };
    return { request, ended, spared };
  },
  'a configuration is applied': managed,
};

/** The other changes. */
const otherChanges: Readonly<Record<string, Prepare>> = {
  'a user is created': async (make) => {
    const sets = [(await make.scopeSet()).id, 'administrator'];
    const body = {
      username: make.newName(),
      password: userPassword,
      scopes: ['store:read'],
      scope_sets: sets,
    };
    return { request: make.request('POST', usersPath, body) };
  },
  'a user is narrowed': async (make) => {
    const sets = [(await make.scopeSet()).id];
    const { id, ended: spared } = await make.userInSession({
      scopes: ['store:read', 'store:write'],
      scope_sets: sets,
    });
    const body = { scopes: ['store:read'], scope_sets: [], display_name: 'Narrowed' };
    return { request: make.request('PATCH', usersPath + id, body), spared };
  },
  'a user is enabled': async (make) => {
    const { id } = await make.user({ disabled: true });
    return { request: make.request('PATCH', usersPath + id, { disabled: false }) };
  },
  "a user's throttle is lifted": async (make) => {
    const { id, username } = await make.user();
    await make.failToSignIn(username);
    const path = `${usersPath}${id}/throttle`;
    const isMade = async (now: ChangeMaker) => (await now.make('GET', path)).json.failures === 0;
    return { request: make.request('DELETE', path), isMade };
  },
  'a scope set is created': async (make) => {
    const body = { name: make.newName(), scopes: ['store:read'] };
    return { request: make.request('POST', setsPath, body) };
  },
  'a scope set is changed': async (make) => {
    const { id } = await make.scopeSet();
    const holder = await make.user({ scope_sets: [id] });
    await make.keyOf(holder.username, { scopes: [], scope_sets: [id] });
    const body = { name: make.newName(), scopes: ['store:read'] };
    return { request: make.request('PATCH', setsPath + id, body) };
  },
  'a scope set is removed': async (make) => {
    const { id } = await make.scopeSet();
    return { request: make.request('DELETE', setsPath + id) };
  },
  'a user is invited': async (make) => {
    const { id } = await make.user();
    return { request: make.request('POST', `${usersPath}${id}/invitation`) };
  },
  'an identity is linked': async (make) => {
    const { id } = await make.user();
    return { request: make.request('POST', `${usersPath}${id}/identities`, identity(id)) };
  },
  'an identity is unlinked': async (make) => {
    const { id } = await make.user();
    await make.make('POST', `${usersPath}${id}/identities`, identity(id));
    return { request: make.request('DELETE', `${usersPath}${id}/identities?provider=idp&subject=${id}`) };
  },
  'an API key is created': async (make) => {
    const body = { label: 'a key', scopes: ['store:read'], scope_sets: ['administrator'] };
    return { request: make.request('POST', keysPath, body) };
  },
  'an API key is made for a user': async (make) => {
    const set = (await make.scopeSet()).id;
    const { id } = await make.user({ scope_sets: [set] });
    const body = { label: 'a key', scopes: ['store:read'], scope_sets: [set] };
    return { request: make.request('POST', `${usersPath}${id}/api-keys`, body) };
  },
  'an API key is deleted with those minted with it': async (make) => {
    const scopes = ['store:read', 'apikeys:write'];
    const { id, key } = await make.keyOf((await make.user({ scopes })).username, { scopes });
    await make.mint(key, { label: 'a child', scopes: ['store:read'] });
    return { request: make.request('DELETE', `${keysPath}${id}?children=true`) };
  },
  'an API key is deleted': async (make) => {
    const { id } = await make.keyOf((await make.user()).username);
    return { request: make.request('DELETE', keysPath + id) };
  },
  // The last: until it is done, the next administrator who is made closes what was opened.
  'the first administrator is activated': async (make) => {
    const json = { token: await make.bootstrapToken(), username: make.newName(), password: userPassword };
    return { request: { method: 'POST', path: '/api/bootstrap/activate', json } };
  },
};

/** Every change that administration makes in the records, by what happens. */
export const administrativeChanges = { ending: endingChanges, other: otherChanges } as const;
