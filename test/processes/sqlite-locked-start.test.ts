import t from 'tap';
import { createSqliteRecordsUnderTest } from '../contract/sqlite-stores.ts';
import { startGatewayProcess } from '../support/gateway/gateway-process.ts';
import { holdWriteLock } from '../support/stores/sqlite-lock-holder.ts';

t.test('a gateway that starts waits for a store that goes before it serves', async (t) => {
  const { store, file } = createSqliteRecordsUnderTest(t);
  await store.close();
  // Longer than a write waits by itself.
  await holdWriteLock(t, file, 4_000);
  const gateway = await startGatewayProcess(t, { config: { stores: { records: `sqlite:${file}` } } });
  t.equal((await fetch(`http://127.0.0.1:${gateway.port}/.well-known/jwks.json`)).status, 200);
});
