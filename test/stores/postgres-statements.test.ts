import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { startKeyLoad } from '../support/administration/key-load.ts';
import { administrator } from '../support/gateway/gateway.ts';
import { isLong } from '../support/gateway/gateway-under-load.ts';
import { requirePostgres } from '../support/stores/postgres-programs.ts';
import { activate, startPostgresReplicas } from '../support/stores/postgres-replicas.ts';
import { startPostgres } from '../support/stores/postgres-server.ts';

const perSecond = isLong ? 1_000 : 400;
/** In the long run, long enough that uses are recorded, which happens once a minute. */
const seconds = isLong ? 130 : 3;
const allowed = 3;
const timeout = 600_000;
t.setTimeout(timeout);

t.test('a request with a key in use costs next to no statement', { timeout }, async (t) => {
  if (!requirePostgres(t)) return;
  const server = await startPostgres(t, { config: ['log_statement = all'] });
  const [gateway] = await startPostgresReplicas(t, [server.url]);
  const bearer = await activate(gateway);
  const load = startKeyLoad([gateway], perSecond);
  t.teardown(() => load.stop());
  for (let index = 0; index < 20; index++) {
    const { key } = await gateway.api.mintKey(bearer, { label: `key ${index}`, scopes: ['store:read'] });
    await load.add(key);
  }
  const statements = () => {
    const log = readFileSync(join(server.folder, 'postgres.log'), 'utf8');
    return log.match(/ postern postern(?:-listener)? LOG: {2}(?:execute|statement)/g)?.length ?? 0;
  };
  const answered = () => load.counts[200] ?? 0;
  const [statementsBefore, answeredBefore] = [statements(), answered()];
  t.ok(statementsBefore > 20, 'they are counted');
  await sleep(seconds * 1_000);
  const sent = statements() - statementsBefore;
  const count = answered() - answeredBefore;
  t.ok(count > (seconds * perSecond) / 2, `${count} requests`);
  t.ok(sent / count < 0.05, `${sent} statements, ${(sent / count).toFixed(4)} per request`);
  t.same(Object.keys(load.counts), ['200']);
});

t.test(
  'a gateway has no more connections than allowed, however many requests need one',
  { timeout },
  async (t) => {
    if (!requirePostgres(t)) return;
    const server = await startPostgres(t);
    const stores = { records_connections: allowed };
    const [gateway] = await startPostgresReplicas(t, [server.url], { stores });
    const bearer = await activate(gateway);
    const countOf = async () => {
      const [row] = await server.query<{ count: number }>(
        `SELECT count(*)::int FROM pg_stat_activity WHERE application_name = 'postern'`,
      );
      return row!.count;
    };
    let isAsking = true;
    let most = 0;
    const watching = (async () => {
      while (isAsking) most = Math.max(most, await countOf());
    })();
    const { username, password } = administrator;
    const form = { username, password };
    const sent = Array.from({ length: 100 }, (_, index) =>
      index % 4 === 0
        ? gateway.api.send({ method: 'POST', path: '/api/login/access-token', form })
        : gateway.api.send({ path: '/api/admin/api-keys/', bearer }),
    );
    const statuses = (await Promise.all(sent)).map(({ status }) => status);
    isAsking = false;
    await watching;
    // A machine with other work may need longer for some than a gateway waits.
    const expected = isLong ? [200] : [200, 503];
    t.strictSame(
      statuses.filter((status) => !expected.includes(status)),
      [],
    );
    t.ok(statuses.filter((status) => status === 200).length > 50);
    t.ok(most > 1 && most <= allowed, `${most} of ${allowed}`);
  },
);
