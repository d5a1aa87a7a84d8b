import t from 'tap';
import { createPostgresClient } from '../../src/stores/postgres/records.ts';
import { eventually } from '../support/eventually.ts';
import { administrator, bootstrapToken, startTestGateway } from '../support/gateway/gateway.ts';
import { scrape } from '../support/gateway/scrape.ts';
import { requirePostgres } from '../support/stores/postgres-programs.ts';
import { startPostgres } from '../support/stores/postgres-server.ts';
import { postgresAddress } from '../support/stores/store-addresses.ts';

t.test('records in a file have no pool', async (t) => {
  const { managementPort } = await startTestGateway(t);
  const { families } = await scrape(managementPort);
  t.strictSame(
    [...families.keys()].filter((name) => name.startsWith('postern_records_')),
    [],
  );
});

t.test('connections to PostgreSQL are busy or free, and waiting calls are counted', async (t) => {
  if (!requirePostgres(t)) return;
  const { url } = await startPostgres(t);
  const stores = { records: url, records_statement_timeout: '20s', sessions: 'sqlite:sessions.db' };
  const { api, managementPort } = await startTestGateway(t, { config: { stores } });
  const { username, password } = administrator;
  await api.activate(username, password, bootstrapToken);
  const { accessToken } = await api.signIn(username, password);
  const read = async () => {
    const { value } = await scrape(managementPort);
    const inState = (state: string) => value('records_connections', { state });
    return { busy: inState('busy'), free: inState('free'), waiting: value('records_waiting') };
  };
  const idle = await eventually('no query is running', async () => {
    const load = await read();
    return load.busy === 0 && load;
  });
  t.ok(idle.free >= 2, 'one that reads and the one that writes');
  t.equal(idle.waiting, 0);

  const holder = createPostgresClient({ address: postgresAddress(url) }, 20_000);
  t.teardown(() => holder.end());
  await holder.connect();
  await holder.query('BEGIN');
  await holder.query('SELECT version FROM store_state FOR UPDATE');
  const writes = [1, 2, 3].map((n) => api.mintKey(accessToken, { label: `k${n}`, scopes: ['store:read'] }));
  const held = await eventually('two wait for the one that writes', async () => {
    const load = await read();
    return load.waiting === 2 && load;
  });
  t.ok(held.busy >= 1);
  await holder.query('COMMIT');
  await Promise.all(writes);
  await eventually('all are free again', async () => {
    const { busy, waiting } = await read();
    return busy === 0 && waiting === 0;
  });
});
