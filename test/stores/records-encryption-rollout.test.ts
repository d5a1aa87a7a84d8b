import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { eventually } from '../support/eventually.ts';
import { runPostern } from '../support/gateway/command.ts';
import {
  administrator,
  bootstrapToken,
  startTestGateway,
  type TestGateway,
} from '../support/gateway/gateway.ts';
import { testOnEveryStore } from '../support/stores/every-store.ts';
import { makeTemporaryFolder } from '../support/temporary-folder.ts';

const { username, password } = administrator;
const onSqlite = { records: 'sqlite:records.db', sessions: 'sqlite:sessions.db' };

t.setTimeout(240_000);

testOnEveryStore(
  'encryption keys are replaced under two gateways that refuse nothing',
  async (t, { stores = onSqlite }) => {
    const folder = makeTemporaryFolder('postern-rollout-');
    for (const id of ['k1', 'k2']) writeFileSync(join(folder, id), randomBytes(32));
    const start = (ids: readonly string[]) => {
      const keys = ids.map((id) => ({ id, file: id }));
      return startTestGateway(t, { folder, config: { stores: { ...stores, records_encryption: { keys } } } });
    };
    const gateways: [TestGateway, TestGateway] = [await start(['k1']), await start(['k1'])];
    await gateways[0].api.activate(username, password, bootstrapToken);
    const long = await gateways[0].api.signIn(username, password);

    async function assertAllPass(what: string): Promise<void> {
      for (const gateway of gateways) {
        const { accessToken, cookie } = await gateway.api.signIn(username, password);
        for (const { api } of gateways) {
          const statuses = [
            (await api.send({ path: '/api/else', bearer: accessToken })).status,
            (await api.send({ path: '/api/else', bearer: long.accessToken })).status,
            (await api.refresh(cookie)).status,
          ];
          t.strictSame(statuses, [200, 200, 200], what);
        }
      }
    }

    await assertAllPass('at first');
    for (const ids of [['k1', 'k2'], ['k2', 'k1'], ['k2']])
      for (const index of [0, 1] as const) {
        await gateways[index].stop();
        gateways[index] = await start(ids);
        const what = `gateway ${index} has ${ids}`;
        await assertAllPass(what);
        // Another key, which is encrypted as this gateway would: the other one can read it.
        const next = await runPostern([
          'signing-key',
          'rotate',
          '--config',
          gateways[index].configFile,
          '--json',
        ]);
        t.equal(next.code, 0, next.stderr);
        const wanted = next.json.find(({ purpose }: any) => purpose === 'access-token').kid;
        for (const { api } of gateways)
          await eventually('both publish it', async () => {
            const { json } = await api.send({ path: '/.well-known/jwks.json' });
            return json.keys.some(({ kid }: any) => kid === wanted);
          });
        const revoked = await runPostern([
          'signing-key',
          'revoke',
          wanted,
          '--config',
          gateways[index].configFile,
        ]);
        t.equal(revoked.code, 0, revoked.stderr);
      }
    const unavailable = gateways
      .flatMap((gateway) => gateway.logLines())
      .filter(({ msg }) => msg === 'store unavailable');
    t.strictSame(unavailable, []);
  },
);
