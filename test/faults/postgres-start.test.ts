import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { createCommandFolder, runPostern } from '../support/command.ts';
import { bootstrapToken } from '../support/gateway.ts';
import { startGatewayProcess } from '../support/gateway-process.ts';
import { requirePostgres } from '../support/postgres-programs.ts';
import { activate } from '../support/postgres-replicas.ts';
import { startPostgres } from '../support/postgres-server.ts';
import { leeway } from '../support/replicas.ts';

/** How long a start waits, and what it may take beyond that, ms. */
const patienceMs = 5_000;
const slackMs = 3_000;

if (requirePostgres(t)) {
  t.test('a gateway waits for a PostgreSQL that is about to be there, or gives up', async (t) => {
    const server = await startPostgres(t);
    const first = await startGatewayProcess(t, { config: { stores: storesOn(server.url) } });
    await activate(first);
    await server.kill();

    const address = `postgres://127.0.0.1:${server.port}/postern?schema=postern`;
    const reason = `connect ECONNREFUSED 127.0.0.1:${server.port}`;
    const sentence = `postern: stores.records ${address}: can't be reached (${reason})\n`;
    const sinceMs = performance.now();
    const arguments_ = ['serve', '--config', first.configFile];
    const [given] = await Promise.all([
      runPostern(['user', 'list', '--config', first.configFile]),
      runPostern(arguments_).then((result) => {
        const tookMs = performance.now() - sinceMs;
        t.equal(result.code, 1);
        t.equal(result.stderr, sentence);
        t.ok(tookMs > patienceMs && tookMs < patienceMs + slackMs * leeway, `after ${Math.round(tookMs)} ms`);
      }),
    ]);
    t.match(given, { code: 1, stderr: sentence }, 'so does a command');

    const started = startGatewayProcess(t, { config: { stores: storesOn(server.url) } });
    await sleep(1_000);
    await server.restart();
    const { api } = await started;
    const again = await api.activate('eve', 'correct horse battery staple', bootstrapToken);
    t.match(
      again,
      { status: 409, json: { code: 'already_activated' } },
      'it has the records that were there',
    );
  });

  t.test(
    'a start that can not have its PostgreSQL says which one, and why',
    { timeout: 60_000 },
    async (t) => {
      const server = await startPostgres(t);
      const place = `postern: stores.records postgres://127.0.0.1:${server.port}/postern?schema=postern: `;
      const start = async (records: string) => {
        const { run } = createCommandFolder(t, { stores: storesOn(records) });
        const results = await Promise.all([run(['serve']), run(['key', 'list'])]);
        for (const { code, stderr } of results) {
          t.equal(code, 1);
          t.equal(stderr.slice(0, place.length), place);
          t.notMatch(stderr, 'secret');
        }
        return results.map(({ stderr }) => stderr.slice(place.length));
      };
      const refused = 'can\'t be opened (28P01 password authentication failed for user "postern")\n';
      t.strictSame(await start(server.url.replace(':secret@', ':wrong-secret@')), [refused, refused]);
      server.pause();
      const silent = "can't be reached (timeout expired)\n";
      t.strictSame(await start(server.url), [silent, silent]);
      server.resume();
    },
  );
}

function storesOn(records: string): object {
  return { records, sessions: 'sqlite:sessions.db' };
}
