import type { Test } from 'tap';
import type { ApiRequest, ApiResponse } from '../clients/api-client.ts';
import type { TestScope } from '../gateway/gateway.ts';
import { type Credential, type KeyAdministration, startKeyAdministration } from './key-administration.ts';

/** Where users are administered. */
export const usersPath = '/api/admin/users/';

/** The password of everyone but the administrator. */
export const userPassword = 'a password of the tests';

/** A gateway whose administrator is signed in, with the calls about users. */
export interface UserAdministration extends KeyAdministration {
  /** Below {@link usersPath}; the administrator calls unless `more` says otherwise. */
  users(
    method: string,
    path?: string,
    json?: unknown,
    more?: Credential & Partial<ApiRequest>,
  ): Promise<ApiResponse>;
  /** Creates a user with {@link userPassword}; throws when that was refused. */
  create(username: string, body?: object): Promise<any>;
  /** The access token of a user of {@link userPassword}. */
  signInAs(username: string): Promise<{ readonly bearer: string }>;
  /** A key of the administrator's with those scopes. */
  keyWith(...scopes: string[]): Promise<{ readonly apiKey: string }>;
  /** Audit events about that target, oldest first. */
  auditOf(target: string): Promise<any[]>;
}

/** Starts a gateway that serves `/api/admin/users` itself. */
export async function startUserAdministration(
  t: TestScope | Test,
  config: object = {},
): Promise<UserAdministration> {
  const gateway = await startKeyAdministration(t, { config: { endpoints: { users: 'own' }, ...config } });
  const { api, asAdministrator, mint } = gateway;
  const users: UserAdministration['users'] = (method, path = '', json = undefined, more = asAdministrator) =>
    api.send({ method, path: usersPath + path, ...(json !== undefined && { json }), ...more });
  return {
    ...gateway,
    users,
    async create(username, body = {}) {
      const response = await users('POST', '', { username, password: userPassword, ...body });
      if (response.status !== 201) throw new Error(`${response.status} ${response.text}`);
      return response.json;
    },
    async signInAs(username) {
      return { bearer: (await api.signIn(username, userPassword)).accessToken };
    },
    async keyWith(...scopes) {
      return { apiKey: (await mint({ scopes })).key };
    },
    async auditOf(target) {
      const path = `/api/admin/audit/?sort_order=asc&size=100&target__eq=${target}`;
      return (await api.send({ path, ...asAdministrator })).json.items;
    },
  };
}
