import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { timed } from '../support/clients/timed.ts';
import { eventually } from '../support/eventually.ts';
import { createCommandFolder, runPostern, startPostern } from '../support/gateway/command.ts';
import { bootstrapToken } from '../support/gateway/gateway.ts';
import { startGatewayProcess } from '../support/gateway/gateway-process.ts';
import { leeway } from '../support/gateway/replicas.ts';
import { guessPort } from '../support/servers/loopback-port.ts';
import { requirePostgres } from '../support/stores/postgres-programs.ts';
import { activate } from '../support/stores/postgres-replicas.ts';
import { startPostgres } from '../support/stores/postgres-server.ts';

/** How long a gateway waits, and a command, and how much longer either may take, ms. */
const gatewayPatienceMs = 30_000;
const commandPatienceMs = 5_000;
const slackMs = 3_000;

if (requirePostgres(t)) {
  t.test('a gateway that waits is live and not ready', async (t) => {
    const nowhere = 'postgres://postern:secret@127.0.0.1:1/postern';
    const port = guessPort();
    const config = { stores: storesOn(nowhere), management: { port } };
    const { configFile } = createCommandFolder(t, config);
    const { child, ended } = startPostern(['serve', '--config', configFile]);
    t.teardown(() => child.kill('SIGKILL'));
    const ask = (path: string) => fetch(`http://127.0.0.1:${port}${path}`);
    await eventually('it responds', async () => (await ask('/healthz').catch(() => null))?.status === 200);
    const response = await ask('/readyz');
    t.equal(response.status, 503);
    t.match(await response.json(), { status: 'not_ready', dependencies: { records: { ok: false } } });
    t.equal((await ask('/metrics')).status, 200);
    child.kill('SIGTERM');
    t.match(await ended, { code: 0 }, 'and it ends on request');
  });

  t.test(
    'a gateway waits for a PostgreSQL that is about to start, or gives up',
    { timeout: 600_000 },
    async (t) => {
      const server = await startPostgres(t);
      const first = await startGatewayProcess(t, { config: { stores: storesOn(server.url) } });
      await activate(first);
      await server.kill();

      const address = `postgres://127.0.0.1:${server.port}/postern?schema=postern`;
      const reason = `connect ECONNREFUSED 127.0.0.1:${server.port}`;
      const sentence = `postern: stores.records ${address}: can't be reached (${reason})\n`;
      const judgeGivenUp = async (args: readonly string[], waitLimitMs: number) => {
        const { came, tookMs } = await timed(runPostern([...args, '--config', first.configFile]));
        t.match(came, { code: 1, stderr: sentence }, args.join(' '));
        t.ok(
          tookMs > waitLimitMs && tookMs < waitLimitMs + slackMs * leeway,
          `after ${Math.round(tookMs)} ms`,
        );
      };
      await Promise.all([
        judgeGivenUp(['serve'], gatewayPatienceMs),
        judgeGivenUp(['user', 'list'], commandPatienceMs),
      ]);

      const started = startGatewayProcess(t, { config: { stores: storesOn(server.url) } });
      await sleep(1_000);
      await server.restart();
      const { api } = await started;
      const again = await api.activate('eve', 'correct horse battery staple', bootstrapToken);
      t.match(again, { status: 409, json: { code: 'already_activated' } }, 'it has the existing records');
    },
  );

  t.test('a start without its PostgreSQL names it, and the reason', { timeout: 600_000 }, async (t) => {
    const server = await startPostgres(t);
    const place = `postern: stores.records postgres://127.0.0.1:${server.port}/postern?schema=postern: `;
    const start = async (records: string) => {
      const { run } = createCommandFolder(t, { stores: storesOn(records) });
      const results = await Promise.all([run(['key', 'list']), run(['user', 'list'])]);
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
  });
}

function storesOn(records: string): object {
  return { records, sessions: 'sqlite:sessions.db' };
}
