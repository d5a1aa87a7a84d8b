import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { listenerName } from '../../src/stores/postgres/records.ts';
import { eventually } from '../support/eventually.ts';
import type { GatewayProcess } from '../support/gateway/gateway-process.ts';
import { isLong } from '../support/gateway/gateway-under-load.ts';
import { requirePostgres } from '../support/stores/postgres-programs.ts';
import { activate, startPostgresReplicas } from '../support/stores/postgres-replicas.ts';
import { type PostgresServer, startPostgres } from '../support/stores/postgres-server.ts';
import { requests } from '../support/stores/postgres-unavailable.ts';

const rounds = isLong ? 200 : 4;
const burstMs = isLong ? 1_500 : 400;
const seenKeys = 8;
const creatorsAtEach = 4;
const timeout = isLong ? 3_000_000 : 600_000;
t.setTimeout(timeout);

/** Creates keys at that gateway until it is stopped, and uses each of them once; gives those that were accepted. */
async function createKeys({ api }: GatewayProcess, bearer: string, isOver: () => boolean): Promise<string[]> {
  const taken: string[] = [];
  while (!isOver()) {
    const { status, json } = await api.send(requests.creation(bearer, 'burst'));
    if (status !== 201) continue;
    const { key } = json as { readonly key: string };
    if ((await api.send(requests.use(key))).status === 200) taken.push(key);
  }
  return taken;
}

/** Statuses other than 200 of keys in use, each sent to each gateway. */
async function refusedOf(gateways: readonly GatewayProcess[], keys: readonly string[]): Promise<string[]> {
  const responses = gateways.flatMap(({ api }, at) =>
    keys.map(async (key, index) => {
      const { status } = await api.send(requests.use(key));
      return status === 200 ? [] : [`gateway ${at}, key ${index}: ${status}`];
    }),
  );
  return (await Promise.all(responses)).flat();
}

/** How many gateways have caught up with the changes made while they were disconnected. */
async function listening(server: PostgresServer): Promise<number> {
  const rows = await server.query(
    `SELECT 1 FROM pg_stat_activity WHERE application_name = $1 AND query LIKE '%FROM changes%' AND state = 'idle'`,
    [listenerName],
  );
  return rows.length;
}

t.test(`keys seen alive count after a burst of other keys, ${rounds} times`, { timeout }, async (t: Test) => {
  if (!requirePostgres(t)) return;
  const server = await startPostgres(t);
  const gateways = await startPostgresReplicas(t, [server.url, server.url, server.url]);
  const bearer = await activate(gateways[0]);
  const minted = Array.from({ length: seenKeys }, (_, index) =>
    gateways[0].api.mintKey(bearer, { label: `seen ${index}`, scopes: ['store:read'] }),
  );
  const keys = (await Promise.all(minted)).map(({ key }) => key);
  let created = 0;
  for (let round = 1; round <= rounds; round += 1) {
    await eventually(
      'every key is accepted everywhere',
      async () => (await refusedOf(gateways, keys)).length === 0,
    );
    let isOver = false;
    const burst = gateways.map(async (gateway) => {
      const creators = Array.from({ length: creatorsAtEach }, () =>
        createKeys(gateway, bearer, () => isOver),
      );
      return (await Promise.all(creators)).flat();
    });
    await sleep(burstMs);
    await server.kill();
    isOver = true;
    const taken = await Promise.all(burst);
    t.strictSame(await refusedOf(gateways, keys), [], `round ${round}: earlier keys`);
    for (const [at, gateway] of gateways.entries())
      t.strictSame(await refusedOf([gateway], taken[at]!), [], `keys of the burst, seen by gateway ${at}`);
    created += taken.flat().length;
    await server.restart();
    await eventually('all have caught up', async () => (await listening(server)) === gateways.length);
    await server.kill();
    t.strictSame(await refusedOf(gateways, keys), [], 'and when it is lost as soon as it was available');
    await server.restart();
  }
  t.comment(`${created} keys were created`);
});
