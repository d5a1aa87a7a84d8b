import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { keysPath } from '../support/administration/key-administration.ts';
import { eventually } from '../support/eventually.ts';
import { leeway } from '../support/gateway/replicas.ts';
import { judgeBack, judgeOutage, judgeReadiness, judgeRefused } from '../support/stores/postgres-outage.ts';
import { requirePostgres } from '../support/stores/postgres-programs.ts';
import { withPostgresRecords } from '../support/stores/postgres-replicas.ts';
import { startPostgresStandby } from '../support/stores/postgres-standby.ts';
import {
  mintElsewhere,
  requests,
  staleIfErrorMs,
  startRecordsStage,
} from '../support/stores/postgres-unavailable.ts';

const timeout = 600_000;
t.setTimeout(timeout);

if (requirePostgres(t)) {
  t.test('PostgreSQL that accepts no writes: calls that need none continue', { timeout }, async (t) => {
    const stage = await startRecordsStage(t);
    const { server, gateway, bearer, key } = stage;
    const unseenKey = await mintElsewhere(stage);
    await server.makeReadOnly();
    const untilMs = performance.now() + staleIfErrorMs + 500;
    while (performance.now() < untilMs) {
      const { status } = await gateway.api.send(requests.use(key));
      if (status !== 200) t.fail(`a key in use was answered ${status}`);
      await sleep(50);
    }
    await judgeRefused(t, stage, 'a creation', requests.creation(bearer, 'meanwhile'));
    await judgeReadiness(t, stage, { status: 503, isThere: false });
    t.equal((await gateway.api.send(requests.use(unseenKey))).status, 200, 'a key that was never seen');
    // Its audit event can't be written.
    await judgeRefused(t, stage, 'a sign-in', requests.login);
    await server.makeWritable();
    await judgeBack(t, stage, performance.now(), unseenKey);
  });

  t.test(
    'PostgreSQL failed over: unavailable, and available again with its standby',
    { timeout },
    async (t) => {
      const stage = await startRecordsStage(t);
      const standby = await startPostgresStandby(t, stage.server);
      const way = {
        async go() {
          await standby.caughtUp();
          await stage.server.kill();
        },
        async comeBack() {
          await standby.promote();
          stage.relay.retarget(standby);
        },
      };
      await judgeOutage(t, stage, way, () => standby);
    },
  );

  t.test('a key that was deleted after a failover that lost changes is refused', { timeout }, async (t) => {
    const stage = await startRecordsStage(t);
    const { server, relay, gateway, bearer } = stage;
    const mint = (label: string) => gateway.api.mintKey(bearer, { label, scopes: ['store:read'] });
    const [inUse, another, lost] = [await mint('in use'), await mint('another'), await mint('lost')];
    t.equal((await gateway.api.send(requests.use(inUse.key))).status, 200);
    const standby = await startPostgresStandby(t, server);
    await standby.caughtUp();
    await standby.kill();
    // As many changes are lost here as are made there before the listener reconnects.
    for (const id of [lost.id, another.id])
      t.equal((await gateway.api.send({ method: 'DELETE', path: keysPath + id, bearer })).status, 204);
    // The gateway has to have been notified of them.
    await sleep(700);
    await relay.refuse();
    await server.kill();
    await standby.restart();
    await standby.promote();
    await withPostgresRecords(standby.url, async (records) => {
      for (const { id } of [inUse, another]) await records.deleteApiKey(id, { children: false });
    });
    relay.retarget(standby);
    await relay.restore();
    const sinceMs = performance.now();
    await eventually(
      'it is refused',
      async () => (await gateway.api.send(requests.use(inUse.key))).status === 401,
    );
    const tookMs = performance.now() - sinceMs;
    t.ok(tookMs < 2_000 * leeway, `within ${Math.round(tookMs)} ms`);
    t.equal((await gateway.api.send(requests.use(lost.key))).status, 200, 'its deletion was lost');
  });
}
