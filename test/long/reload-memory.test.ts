import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import { stringify } from 'yaml';
import { loadConfig } from '../../src/config/load.ts';
import { createLog } from '../../src/log/log.ts';
import { startGateway } from '../../src/serve/start-gateway.ts';
import { testConfig } from '../support/gateway/gateway.ts';
import { isLong } from '../support/gateway/gateway-under-load.ts';
import { mebibytes } from '../support/gateway/process-usage.ts';

const reloadCount = 100;
/** By then everything is compiled and every table has its size. */
const warmUpCount = 50;
/** One configuration's gateway is some 600 KiB. */
const mostGrownBytes = 2 * 2 ** 20;

t.setTimeout(120_000);

if (isLong) {
  setFlagsFromString('--expose-gc');
  const collectGarbage: () => void = runInNewContext('gc');

  t.test(`${reloadCount} reloads, each with a request, keep nothing alive`, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'postern-test-'));
    const configFile = join(folder, 'postern.yaml');
    const read = (limit: number) => {
      const config = testConfig('builtin:echo', {
        upstreams: { app: { url: 'builtin:echo', max_connections: 10 + limit } },
        routes: [{ prefix: '/api', upstream: 'app', public: true }],
        identity_providers: {
          acme: {
            issuer: 'https://id.example.com',
            client_id: 'postern',
            redirect_uri: 'https://acme.example.com/signed-in',
          },
        },
      });
      writeFileSync(configFile, stringify(config));
      return loadConfig(configFile, process.env).config!;
    };
    const log = createLog({ level: 'error', destination: '/dev/null' });
    const gateway = await startGateway(read(0), log);
    t.teardown(async () => {
      await gateway.stop();
      rmSync(folder, { recursive: true });
    });
    const origin = `http://127.0.0.1:${gateway.opened.address.port}`;
    let before = 0;
    for (let count = 1; count <= warmUpCount + reloadCount; count++) {
      await gateway.reload(read(count));
      const response = await fetch(`${origin}/api/store`);
      if (response.status !== 200) throw new Error(`answered ${response.status}`);
      await response.arrayBuffer();
      if (count === warmUpCount) before = heapAfter(collectGarbage);
    }
    const grown = heapAfter(collectGarbage) - before;
    t.ok(grown < mostGrownBytes, `the heap grew by ${mebibytes(grown)} MiB of ${mebibytes(before)}`);
  });
} else {
  t.pass('reloads keep nothing alive', { skip: 'a bound in memory: set POSTERN_TEST_LONG' });
}

function heapAfter(collectGarbage: () => void): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}
