import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { runPostern } from '../support/command.ts';
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

    const sinceMs = performance.now();
    const arguments_ = ['serve', '--config', first.configFile];
    const [given] = await Promise.all([
      runPostern(['user', 'list', '--config', first.configFile]),
      runPostern(arguments_).then((result) => {
        const tookMs = performance.now() - sinceMs;
        t.equal(result.code, 1);
        t.match(result.stderr, /^postern: [^\n]+\n$/, 'one sentence');
        t.notMatch(result.stderr, /secret/);
        t.ok(tookMs > patienceMs && tookMs < patienceMs + slackMs * leeway, `after ${Math.round(tookMs)} ms`);
        t.comment(result.stderr);
      }),
    ]);
    t.match(given, { code: 1, stderr: /^postern: [^\n]+\n$/ }, 'so does a command');

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
}

function storesOn(records: string): object {
  return { records, sessions: 'sqlite:sessions.db' };
}
