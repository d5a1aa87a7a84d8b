import { spawn } from 'node:child_process';
import { join } from 'node:path';
import t from 'tap';
import { createApiClient } from '../support/clients/api-client.ts';
import { eventually } from '../support/eventually.ts';
import { startForwarding } from '../support/gateway/forwarding.ts';
import { guardProcess } from '../support/gateway/guarded-process.ts';
import { guessPort } from '../support/servers/loopback-port.ts';
import { pythonTool, requireTools } from './client-tools.ts';

t.setTimeout(120_000);
const root = join(import.meta.dirname, '../..');
const targets = [
  '/api/x',
  '/api/x?',
  '/api/x?a=b&c=%2F',
  '/api/%E2%82%AC%20y?q=%25',
  '/api/mounted/x',
  "/api/a'(:@",
];

for (const rootPath of ['', '/mounted', '/api'])
  t.test(`uvicorn verifies every request, with the root path "${rootPath}"`, async (t) => {
    const uvicorn = pythonTool('uvicorn');
    if (!requireTools(t, uvicorn)) return;
    const port = guessPort();
    const gateway = await startForwarding(t, {
      upstreams: { app: { url: `http://127.0.0.1:${port}`, assertion: {} } },
    });
    const { api, bearer, key, secrets, managementPort } = gateway;
    const place = [
      '--app-dir',
      join(root, 'test/clients/programs'),
      '--port',
      `${port}`,
      '--root-path',
      rootPath,
    ];
    const child = spawn(
      uvicorn,
      ['asserted_app:app', '--lifespan', 'off', '--log-level', 'error', ...place],
      {
        env: {
          ...process.env,
          VERIFIER: join(root, 'examples/verify-assertion/python'),
          POSTERN: `http://127.0.0.1:${managementPort}`,
          PYTHONDONTWRITEBYTECODE: '1',
        },
        stdio: ['ignore', 'ignore', 'inherit'],
      },
    );
    guardProcess(child);
    t.teardown(() => child.kill('SIGKILL'));
    await eventually(
      'uvicorn serves',
      async () => (await api.send({ path: '/api/x', bearer })).status === 200,
    );

    for (const path of targets)
      for (const who of [{ bearer }, { headers: { 'x-api-key': key } }])
        for (const method of ['GET', 'POST']) {
          const { status, json } = await api.send({ method, path, ...who });
          t.match({ status, json }, { status: 200, json: { htm: method, sub: /./ } }, `${method} ${path}`);
        }
    const direct = createApiClient(port, secrets);
    const { status } = await direct.send({ path: '/api/x', headers: { 'X-Auth-Subject': 'evil' } });
    t.equal(status, 401, 'who comes past Postern is refused');
  });
