import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { apply, kubectl, requireNode } from './cluster/commands.ts';
import { startLoad } from './cluster/load.ts';
import { createNamespace, podsOf } from './cluster/namespace.ts';
import { ordersService } from './cluster/orders.ts';
import { gatewayValues, install, openUp, sidecarValues } from './cluster/release.ts';
import { type Stores, startStores } from './cluster/stores.ts';
import { registry } from './node/folders.ts';

// `POSTERN_TEST_PREVIOUS` is the archive of an image to upgrade from; without it, it is the same under another name.

const repository = `${registry}/postern`;
const arrangements: Readonly<Record<string, (stores: Stores) => object>> = {
  gateway: (stores) => gatewayValues(stores),
  'native sidecar': (stores) => sidecarValues(stores, true),
  'ordinary sidecar': (stores) => sidecarValues(stores, false),
};

t.test('two versions on the same stores: nobody is signed out, no key is lost', async (t) => {
  if (!requireNode(t)) return;
  for (const [name, values] of Object.entries(arrangements))
    await t.test(name, (t) => upgradeUnderLoad(t, `upgrade-${name.replace(' ', '-')}`, values));
});

async function upgradeUnderLoad(t: Test, namespace: string, values: (stores: Stores) => object) {
  await createNamespace(t, namespace);
  const stores = await startStores(t, namespace, 'acme');
  await apply(namespace, ordersService());
  await kubectl('rollout', 'status', 'deploy/orders', '--namespace', namespace);
  const release = await install(namespace, { ...values(stores), image: { repository, tag: 'previous' } });
  const opened = await openUp(release);
  const { api, address } = release;

  const load = startLoad({ address, apiKey: opened.key, clients: 2, pauseMs: 40 });
  let isDone = false;
  const refreshes = refreshUntil(() => isDone);
  await release.upgrade({ image: { repository } });
  await sleep(2000);
  isDone = true;
  const { statuses, cookie } = await refreshes;
  await load.stop();

  t.ok(statuses.length > 10, `${statuses.length} refreshes`);
  t.strictSame(
    // A store that takes too long on a busy machine signs nobody out.
    statuses.filter((status) => status !== 200 && status !== 503),
    [],
    'every refresh of the session',
  );
  const refused = Object.values(load.kinds).flatMap(({ lost }) =>
    Object.keys(lost).filter((how) => /^\d/.test(how)),
  );
  t.strictSame(refused, [], `no status but 200 to ${load.sent} requests by key`);
  for (const [kind, { lost }] of Object.entries(load.kinds)) t.comment(kind, lost);

  const { json, status } = await api.refresh(cookie);
  t.equal(status, 200);
  for (const bearer of [json.access_token, opened.accessToken])
    t.equal((await api.send({ path: '/api/orders', bearer })).status, 200, 'tokens of either version');
  t.equal((await api.send({ path: '/api/orders', apiKey: opened.key })).status, 200);
  const pods = await podsOf(namespace, release.selector);
  t.notOk(
    pods.some(({ spec }) =>
      [...spec.containers, ...(spec.initContainers ?? [])].some(({ image }) => image.endsWith(':previous')),
    ),
    'all are of the new version',
  );

  /** Refreshes a session by the cookie of the last response, again and again. */
  async function refreshUntil(isEnough: () => boolean) {
    const statuses: number[] = [];
    let { cookie } = opened;
    while (!isEnough()) {
      const response = await api.refresh(cookie).catch(() => null);
      // A connection that an older version broke is none that signs out.
      if (response !== null) statuses.push(response.status);
      const [set] = response?.setCookies ?? [];
      if (set !== undefined) cookie = set.split(';')[0]!;
      await sleep(200);
    }
    return { statuses, cookie };
  }
}
