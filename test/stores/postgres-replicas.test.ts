import t, { type Test } from 'tap';
import type { User } from '../../src/stores/user.ts';
import { type CallKeys, judgeExactKeys, judgeOneDeletion } from '../support/administration/exact-keys.ts';
import { keysPath } from '../support/administration/key-administration.ts';
import { listUsers } from '../support/administration/record-changes.ts';
import { administrator, bootstrapToken } from '../support/gateway/gateway.ts';
import type { GatewayProcess } from '../support/gateway/gateway-process.ts';
import { isLong } from '../support/gateway/gateway-under-load.ts';
import { cookieOf } from '../support/gateway/replicas.ts';
import { requirePostgres } from '../support/stores/postgres-programs.ts';
import { activate, startPostgresReplicas, withPostgresRecords } from '../support/stores/postgres-replicas.ts';
import { startPostgres } from '../support/stores/postgres-server.ts';

const { password } = administrator;
const scopes = ['store:read'];
const rounds = isLong ? 40 : 3;
/** How often three gateways start together; each time on a store of its own. */
const starts = isLong ? 12 : 1;
const timeout = 600_000;
t.setTimeout(timeout);

type Gateways = readonly GatewayProcess[];

/** The responses of all gateways to one request. */
function ofAll<T>(gateways: Gateways, ask: (gateway: GatewayProcess) => Promise<T>): Promise<T[]> {
  return Promise.all(gateways.map(ask));
}

/**
 * Fifty clients try to become the first administrator, by as many names; gives the name of the one that succeeded. On a
 * busy machine some are 503 first, of which one may have succeeded nevertheless.
 */
async function judgeActivation(t: Test, gateways: Gateways, url: string): Promise<string> {
  let unknown = 0;
  const activateAs = async (index: number) => {
    for (;;) {
      const { api } = gateways[index % gateways.length]!;
      const response = await api.activate(`ada ${index}`, password, bootstrapToken);
      if (response.status !== 503) return response;
      unknown += 1;
    }
  };
  const responses = await Promise.all(Array.from({ length: 50 }, (_, index) => activateAs(index)));
  const made = responses.filter(({ status }) => status === 201);
  const others = responses.filter((response) => response !== made[0]);
  t.ok(others.every(({ status, json }) => status === 409 && json.code === 'already_activated'));
  const users = await withPostgresRecords(url, async (records) => listUsers(records));
  t.equal(users.length, 1);
  const [{ id, username }] = users as [User];
  if (made.length > 0 || unknown === 0)
    t.same(
      made.map(({ json }) => json),
      [{ id, username }],
    );
  return username;
}

/** A token, a cookie and a cursor from one gateway are valid at all of them. */
async function judgeSharedSecrets(t: Test, gateways: Gateways, name: string): Promise<void> {
  const jwks = await ofAll(gateways, ({ api }) => api.send({ path: '/.well-known/jwks.json' }));
  t.equal(jwks[0]!.json.keys.length, 1, 'one signing key');
  t.equal(new Set(jwks.map(({ text }) => text)).size, 1, 'the same for all');
  const { accessToken: administrators } = await gateways[0]!.api.signIn(name, password);
  for (const label of ['a', 'b', 'c']) await gateways[0]!.api.mintKey(administrators, { label, scopes });
  for (const { api } of gateways) {
    const { accessToken: bearer, cookie } = await api.signIn(name, password);
    const used = await ofAll(gateways, ({ api }) => api.send({ path: '/api/store/x', bearer }));
    t.ok(used.every(({ status }) => status === 200));
    const refreshed = await ofAll(gateways, ({ api }) => api.refresh(cookie));
    t.same(new Set(refreshed.map(cookieOf)), new Set([cookie]));
    const path = `${keysPath}?sort_by=label&sort_order=asc&size=1`;
    const cursor = (await api.send({ path, bearer })).json.next_page;
    const pages = await ofAll(gateways, ({ api }) => api.send({ path: `${path}&cursor=${cursor}`, bearer }));
    t.ok(pages.every(({ json }) => json.items[0].label === 'b'));
  }
}

if (requirePostgres(t)) {
  const server = await startPostgres(t);
  const storeOf = (schema: string) => `${server.url}?schema=${schema}`;
  const startThree = (t: Test, url: string) => startPostgresReplicas(t, [url, url, url]);

  for (let round = 1; round <= starts; round++)
    t.test(`three gateways that start together on an empty database, ${round}`, { timeout }, async (t) => {
      const url = storeOf(`started_${round}`);
      const gateways = await startThree(t, url);
      const name = await judgeActivation(t, gateways, url);
      await judgeSharedSecrets(t, gateways, name);
    });

  t.test('three gateways on one database', { timeout }, async (t) => {
    const gateways = await startThree(t, storeOf('three'));
    const bearer = await activate(gateways[0]);
    let calls = 0;
    const next = () => {
      calls += 1;
      return gateways[calls % 3]!.api;
    };

    await t.test('64 creations and deletions at a time stay exact', { timeout }, async (t) => {
      const call: CallKeys = (method, path, json) =>
        next().send({ method, path: keysPath + path, bearer, json });
      await judgeExactKeys(t, call, scopes, rounds);
      await judgeOneDeletion(t, call, scopes);
    });

    await t.test('a key works everywhere on its first use', { timeout }, async (t) => {
      const counts: Record<string, number> = {};
      const count = rounds * 20;
      for (let index = 0; index < count; index++) {
        const here = gateways[index % 3]!.api;
        const { id, key } = await here.mintKey(bearer, { label: `key ${index}`, scopes });
        const first = await ofAll(gateways, ({ api }) => api.send({ path: '/api/store/x', apiKey: key }));
        const deleted = await here.send({ method: 'DELETE', path: keysPath + id, bearer });
        const after = await here.send({ path: '/api/store/x', apiKey: key });
        const came = first.map(({ status }) => `use ${status}`);
        for (const name of [...came, `deletion ${deleted.status}`, `there ${after.status}`])
          counts[name] = (counts[name] ?? 0) + 1;
      }
      const expected = { 'use 200': 3 * count, 'deletion 204': count, 'there 401': count };
      t.same(counts, expected, 'and never again after its deletion');
    });
  });

  t.test('tenants that are schemas of one database share nothing', { timeout }, async (t) => {
    const [[one], [other]] = await Promise.all([
      startPostgresReplicas(t, [storeOf('one')]),
      startPostgresReplicas(t, [storeOf('other')]),
    ]);
    const gateways = [one, other];
    const bearers = await Promise.all(gateways.map(activate));
    const mint = ({ api }: GatewayProcess, index: number) =>
      api.mintKey(bearers[index]!, { label: `of ${index}`, scopes });
    const keys = await Promise.all(gateways.map(mint));
    const kids = new Set<string>();
    for (const [index, { api }] of gateways.entries()) {
      const bearer = bearers[index]!;
      const theirs = 1 - index;
      const statusOf = async (request: object) =>
        (await api.send({ path: '/api/store/x', ...request })).status;
      const { items } = (await api.send({ path: keysPath, bearer })).json;
      t.same(
        items.map(({ label }: { label: string }) => label),
        [`of ${index}`],
      );
      t.equal(await statusOf({ apiKey: keys[index].key }), 200);
      t.equal(await statusOf({ apiKey: keys[theirs].key }), 401);
      t.equal(await statusOf({ bearer: bearers[theirs]! }), 401);
      t.equal(await statusOf({ method: 'DELETE', path: keysPath + keys[theirs].id, bearer }), 404);
      kids.add((await api.send({ path: '/.well-known/jwks.json' })).json.keys[0].kid);
    }
    t.equal(kids.size, 2, 'each signs with a key of its own');
  });
}
