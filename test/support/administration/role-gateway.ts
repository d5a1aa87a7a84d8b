import { join } from 'node:path';
import Database from 'better-sqlite3';
import { Client } from 'pg';
import type { Test } from 'tap';
import type { ApiResponse } from '../clients/api-client.ts';
import { eventually } from '../eventually.ts';
import { administrator, bootstrapToken } from '../gateway/gateway.ts';
import { type ProviderGateway, startProviderGateway } from '../gateway/provider-gateway.ts';
import type { StoresConfig } from '../stores/stores-config.ts';
import type { Credential } from './key-administration.ts';
import { userPassword } from './user-administration.ts';

const areas = ['apikeys', 'users', 'scopesets', 'sessions'];
/** What those hold who may see everything. */
export const reading: readonly string[] = [
  'audit:read',
  ...areas.map((area) => `${area}:read`),
  'store:read',
];
/** What those hold who may change everything, but can't give `store:write`. */
export const writing: readonly string[] = [...areas.map((area) => `${area}:write`), 'store:read'];
/** Both. */
export const operating: readonly string[] = [...new Set([...reading, ...writing])];

/** A gateway for the role matrix: everything about it that callers and records are made with. */
export interface RoleGateway extends ProviderGateway {
  readonly administratorId: string;
  /** The id of a set of all that operators hold. */
  readonly operators: string;
  asAdministrator(): { readonly bearer: string };
  signInAdministrator(): Promise<void>;
  newName(): string;
  /** One call of the administrator's; throws unless its status is that one. */
  administer(method: string, path: string, status: number, json?: unknown): Promise<ApiResponse>;
  /** A user with a name of its own. */
  create(user: object): Promise<any>;
  mintFor(userId: string, body: object): Promise<any>;
  /** The access token of a user. */
  signInAs(username: string, scope?: string): Promise<string>;
  signInByProvider(subject: string): Promise<ApiResponse>;
  /** The id of the session that a token is of. */
  sessionOf(bearer: string): Promise<string>;
  untilRefused(credential: Credential): Promise<void>;
  /** Makes a record one that the configuration keeps. */
  manage(table: 'users' | 'scope_sets', id: string): Promise<void>;
}

const usersPath = '/api/admin/users/';

/** Starts it. */
export async function startRoleGateway(t: Test, stores: StoresConfig): Promise<RoleGateway> {
  const grants = [{ claim: 'groups', value: 'operators', scopes: operating }];
  const config = { endpoints: { users: 'own' }, ...stores };
  const gateway = await startProviderGateway(t, { idp: { grants } }, config);
  const { api } = gateway;
  const { username, password } = administrator;
  const activated = await api.activate(username, password, bootstrapToken);
  let names = 0;
  let bearer = '';

  const administer: RoleGateway['administer'] = async (method, path, status, json = undefined) => {
    const response = await api.send({ method, path, bearer, ...(json !== undefined && { json }) });
    if (response.status !== status) throw new Error(`${method} ${path}: ${response.status} ${response.text}`);
    return response;
  };
  const newName = () => {
    names += 1;
    return `name-${names}`;
  };
  const signInAdministrator = async () => {
    bearer = (await api.signIn(username, password)).accessToken;
  };
  await signInAdministrator();
  const set = { name: 'operators', scopes: operating };
  const { json: made } = await administer('POST', '/api/admin/scope-sets/', 201, set);
  return {
    ...gateway,
    administratorId: activated.json.id,
    operators: made.id,
    asAdministrator: () => ({ bearer }),
    signInAdministrator,
    newName,
    administer,
    async create(user) {
      const body = { username: newName(), password: userPassword, ...user };
      return (await administer('POST', usersPath, 201, body)).json;
    },
    async mintFor(userId, body) {
      const key = { label: 'a key', scopes: [], ...body };
      return (await administer('POST', `${usersPath}${userId}/api-keys`, 201, key)).json;
    },
    async signInAs(name, scope) {
      return (await api.signIn(name, userPassword, { ...(scope !== undefined && { scope }) })).accessToken;
    },
    signInByProvider: (subject) => gateway.signIn({ sub: subject, groups: ['operators'] }),
    async sessionOf(presented) {
      const { json } = await api.send({ path: '/api/self/sessions', bearer: presented });
      return json.items.find(({ current }: { readonly current: boolean }) => current).id;
    },
    async untilRefused(credential) {
      const isRefused = async () => (await api.send({ path: usersPath, ...credential })).status === 401;
      await eventually('the credential has ended', isRefused);
    },
    manage: (table, id) => manage(stores, gateway.folder, table, id),
  };
}

/** Says so in the records, where only the configuration may: beside the gateway. */
async function manage({ stores }: StoresConfig, folder: string, table: string, id: string): Promise<void> {
  if (stores === undefined) {
    const db = new Database(join(folder, 'records.db'));
    db.prepare(`UPDATE ${table} SET managed = 1 WHERE id = ?`).run(id);
    db.close();
    return;
  }
  const url = new URL(stores.records);
  const schema = url.searchParams.get('schema');
  url.search = '';
  const client = new Client({ connectionString: url.href });
  await client.connect();
  await client.query(`UPDATE "${schema}".${table} SET managed = 1 WHERE id = $1`, [id]);
  await client.end();
}
