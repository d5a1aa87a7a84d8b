import t, { type Test } from 'tap';
import { eventually } from '../support/eventually.ts';
import { administrator } from '../support/gateway/gateway.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/gateway/gateway-process.ts';
import { requirePostgres } from '../support/stores/postgres-programs.ts';
import { type RecordsStage, startRecordsStage } from '../support/stores/postgres-unavailable.ts';

const timeout = 600_000;
t.setTimeout(timeout);

const { username, password } = administrator;
const asset = '/api/store/x';

/** What a gateway responds by key, by token, and to a sign-in, and whether it is ready. */
async function seenAt({ api, managementPort }: GatewayProcess, { key, bearer }: RecordsStage) {
  const form = { username, password };
  const responses = await Promise.all([
    api.send({ path: asset, apiKey: key }),
    api.send({ path: asset, bearer }),
    api.send({ method: 'POST', path: '/api/login/access-token', form }),
    fetch(`http://127.0.0.1:${managementPort}/readyz`),
  ]);
  return responses.map(({ status }) => status);
}

async function becomes(gateway: GatewayProcess, stage: RecordsStage, wanted: readonly number[]) {
  await eventually(`${wanted}`, async () => `${await seenAt(gateway, stage)}` === `${wanted}`);
}

/** Takes the tables away, as a server does that lost its disk. */
async function lose(t: Test, stage: RecordsStage): Promise<void> {
  const { server, gateway, elsewhere } = stage;
  await server.query('ALTER SCHEMA postern RENAME TO lost');
  for (const one of [gateway, elsewhere]) await becomes(one, stage, [503, 503, 503, 503]);
  t.match(
    gateway.logLines().findLast(({ msg }) => msg === 'store unavailable'),
    { store: 'records', reason: /^42P01 relation "\w+" does not exist$/ },
  );
}

t.test('a PostgreSQL that has lost its tables counts as unavailable', { timeout }, async (t) => {
  if (!requirePostgres(t)) return;
  const stage = await startRecordsStage(t);
  const { server, gateway, elsewhere } = stage;
  const gateways = [gateway, elsewhere];
  for (const one of gateways) await becomes(one, stage, [200, 200, 200, 200]);

  await t.test('until they are restored', async (t) => {
    await lose(t, stage);
    const [row] = await server.query<{ count: number }>(
      `SELECT count(*)::int FROM pg_tables WHERE schemaname = 'postern'`,
    );
    t.equal(row!.count, 0, 'a gateway that serves makes no tables');
    await server.query('ALTER SCHEMA lost RENAME TO postern');
    for (const one of gateways) await becomes(one, stage, [200, 200, 200, 200]);
  });

  await t.test('or until a gateway starts, and begins from nothing', async (t) => {
    await lose(t, stage);
    const third = await startGatewayProcess(t, { config: { stores: { records: server.url } } });
    for (const one of [...gateways, third]) await becomes(one, stage, [401, 401, 401, 200]);
    t.ok(gateways.every(({ pid }) => pid !== null));
  });
});
