import { administrator, bootstrapToken } from '../../support/gateway/gateway.ts';
import type { ModelGateway } from '../machine/gateway.ts';
import type { Disturbances } from '../promises/disturbances.ts';
import { History } from '../promises/history.ts';
import { Judge, type Promises } from '../promises/judge.ts';
import { ModelledSet, ModelledUser, Records } from '../promises/records.ts';
import type { Instant } from '../promises/register.ts';
import type { World } from './world.ts';

/** The catalogue of scopes, as configured. */
export const catalogue = {
  'store:read': 'Read assets',
  'store:write': 'Change assets',
  'books:read': 'Read books',
  'books:write': 'Change books',
} as const;

const sharedUsers = 6;
const scopeSets = 3;
/** Per client. */
const places = { sessions: 5, keys: 5, users: 2 };
const first = ['store:read', 'apikeys:read', 'apikeys:write'];

interface Preparation extends Pick<World, 'disturbances' | 'now' | 'graceMs' | 'clockError' | 'isKept'> {
  readonly disturbances: Disturbances;
  readonly promises: Omit<Promises, 'isKept'>;
}

/** Activates the first administrator, and makes what all clients share. */
export async function prepareWorld(
  gateways: readonly ModelGateway[],
  clients: number,
  preparation: Preparation,
): Promise<World> {
  const { disturbances, now, promises } = preparation;
  const records = new Records();
  const expected: World['expected'] = new Map();
  const ask = async (path: string, json: object, headers: Record<string, string> = {}) => {
    const from: Instant = now();
    const requestId = `prepare-${expected.size}`;
    const sent = { method: 'POST', path, json, headers: { ...headers, 'x-request-id': requestId } };
    const answered = await gateways[0]!.send(sent);
    expected.set(requestId, { requestId, from, to: now(), events: [] });
    if (answered.status !== 201) throw new Error(`POST ${path}: ${answered.status} ${answered.code}`);
    return { json: answered.json, made: { from, to: now() } };
  };
  const { username, password } = administrator;
  await ask('/api/bootstrap/activate', { token: bootstrapToken, username, password });
  const form = { username, password };
  const signIn = { method: 'POST', path: '/api/login/access-token', form };
  const signedIn = await gateways[0]!.send({ ...signIn, headers: { 'x-request-id': 'prepare' } });
  expected.set('prepare', { requestId: 'prepare', from: 0, to: now(), events: [] });
  const bearer = { authorization: `Bearer ${signedIn.json.access_token}` };
  const root = { label: 'root', scopes: [], scope_sets: ['administrator'] };
  const { key: rootKey } = (await ask('/api/admin/api-keys/', root, bearer)).json;
  const asRoot = { 'x-api-key': rootKey };
  for (let index = 0; index < scopeSets; index++) {
    const name = `set ${index}`;
    const scopes = ['books:read'];
    const { json, made } = await ask('/api/admin/scope-sets/', { name, description: '', scopes }, asRoot);
    records.sets.set(json.id, new ModelledSet(json.id, name, scopes, made));
  }
  const users: ModelledUser[] = [];
  for (let index = 0; index < sharedUsers; index++) {
    const fields = { name: `user ${index}`, password: `the first phrase of ${index * 7919}`, scopes: first };
    const body = { username: fields.name, password: fields.password, scopes: first };
    const { json, made } = await ask('/api/admin/users/', body, asRoot);
    users.push(new ModelledUser({ ...fields, id: json.id, sets: [] }, made));
  }
  for (const user of users) records.users.set(user.id, user);
  return {
    ...preparation,
    gateways,
    records,
    history: new History(disturbances),
    judge: new Judge(records, disturbances, { ...promises, isKept: preparation.isKept }),
    places: Array.from({ length: clients }, () => ({
      sessions: Array.from({ length: places.sessions }, () => undefined),
      keys: Array.from({ length: places.keys }, () => undefined),
      users: Array.from({ length: places.users }, () => undefined),
    })),
    sharedUsers: users,
    catalogue: Object.keys(catalogue),
    rootKey,
    expected,
    feed: [],
  };
}
