import type { ApiClient, ApiRequest, ApiResponse } from './api-client.ts';
import { keysPath } from './key-administration.ts';
import { userPassword, usersPath } from './user-administration.ts';

const setsPath = '/api/admin/scope-sets/';
const sessionsPath = '/api/admin/sessions/';

/** A session in use. */
export interface HeldSession {
  readonly bearer: string;
  readonly cookie: string;
}

/** A change that is ready to be made, by one request. */
export interface PreparedChange {
  readonly request: ApiRequest;
  /** A session that the change ends. */
  readonly ended?: HeldSession;
  /** A session that goes on either way. */
  readonly spared?: HeldSession;
}

/** Prepares changes at a gateway, as an administrator with an API key. */
export class ChangeMaker {
  readonly #api: ApiClient;
  readonly #apiKey: string;
  static #names = 0;

  constructor(api: ApiClient, apiKey: string) {
    this.#api = api;
    this.#apiKey = apiKey;
  }

  newName(): string {
    ChangeMaker.#names += 1;
    return `name ${ChangeMaker.#names}`;
  }

  request(method: string, path: string, json?: object): ApiRequest {
    return { method, path, apiKey: this.#apiKey, ...(json !== undefined && { json }) };
  }

  /** Throws when it is refused. */
  async make(method: string, path: string, json?: object): Promise<ApiResponse> {
    const response = await this.#api.send(this.request(method, path, json));
    if (response.status >= 300) throw new Error(`${method} ${path}: ${response.status} ${response.text}`);
    return response;
  }

  async user(more: object = {}): Promise<{ readonly id: string; readonly username: string }> {
    const scopes = ['store:read', 'apikeys:write'];
    const body = { username: this.newName(), password: userPassword, scopes, ...more };
    return (await this.make('POST', usersPath, body)).json;
  }

  async scopeSet(): Promise<{ readonly id: string }> {
    const body = { name: this.newName(), scopes: ['store:read', 'store:write'] };
    return (await this.make('POST', setsPath, body)).json;
  }

  /** A key that the user made. */
  async keyOf(username: string, more: object = {}): Promise<{ readonly id: string }> {
    const { accessToken } = await this.#api.signIn(username, userPassword);
    return this.#api.mintKey(accessToken, { label: 'of a user', scopes: ['store:read'], ...more });
  }

  /** Signs in, and uses the session once. */
  async session(username: string): Promise<HeldSession> {
    const { accessToken: bearer, cookie } = await this.#api.signIn(username, userPassword);
    const { status } = await this.#api.send({ path: '/api/store/x', bearer });
    if (status !== 200) throw new Error(`a new session was answered ${status}`);
    return { bearer, cookie };
  }

  async userInSession(more: object = {}): Promise<{ readonly id: string; readonly ended: HeldSession }> {
    const { id, username } = await this.user(more);
    return { id, ended: await this.session(username) };
  }
}

type Prepare = (make: ChangeMaker) => Promise<PreparedChange>;

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
  'an API key is deleted': async (make) => {
    const { id } = await make.keyOf((await make.user()).username);
    return { request: make.request('DELETE', keysPath + id) };
  },
};

/** Every change that administration makes in the records, by what happens. */
export const administrativeChanges = { ending: endingChanges, other: otherChanges } as const;
