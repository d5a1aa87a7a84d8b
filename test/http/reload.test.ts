import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { eventually } from '../support/eventually.ts';
import { administrator, bootstrapToken } from '../support/gateway.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts';
import { startHttpUpstream } from '../support/http-upstream.ts';

const routes = [{ prefix: '/api', upstream: 'app' }];
const closedRoutes = [{ prefix: '/api', upstream: 'app', scopes: ['store:read'] }];

/** A gateway with a key that holds nothing in particular. */
async function startWithKey(t: Test, config: object): Promise<GatewayProcess & { readonly key: string }> {
  const gateway = await startGatewayProcess(t, { config });
  const { username, password } = administrator;
  await gateway.api.activate(username, password, bootstrapToken);
  const { accessToken } = await gateway.api.signIn(username, password);
  const { key } = await gateway.api.mintKey(accessToken, { label: 'k', scopes: ['store:write'] });
  return { ...gateway, key };
}

async function statusOf(
  gateway: GatewayProcess & { readonly key: string },
  path = '/api/x',
): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${gateway.port}${path}`, {
    headers: { 'X-API-Key': gateway.key },
  });
  await answer.arrayBuffer();
  return answer.status;
}

function reloads({ managementPort }: GatewayProcess, outcome: string): Promise<number> {
  return fetch(`http://127.0.0.1:${managementPort}/metrics`)
    .then((answer) => answer.text())
    .then((text) =>
      Number(new RegExp(`config_reloads_total\\{outcome="${outcome}"\\} (\\d+)`).exec(text)?.[1]),
    );
}

t.test('SIGHUP: another configuration serves what comes next', async (t) => {
  const gateway = await startWithKey(t, { routes });
  t.equal(await statusOf(gateway), 200);
  gateway.configure({ routes: closedRoutes, log: { level: 'warn' } });
  process.kill(gateway.pid!, 'SIGHUP');
  await eventually('the new routes', async () => (await statusOf(gateway)) === 403);
  t.equal(await reloads(gateway, 'applied'), 1);
  t.equal(await reloads(gateway, 'failed'), 0);
});

t.test('a changed file is enough, the configuration or one that a value comes from', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'postern-reload-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const scope = join(folder, 'scope');
  writeFileSync(scope, 'store:write\n');
  const fromFile = [{ prefix: '/api', upstream: 'app', scopes: [{ file: scope }] }];
  const gateway = await startWithKey(t, { routes: fromFile });
  t.equal(await statusOf(gateway), 200);
  writeFileSync(scope, 'store:read\n');
  await eventually('the value of the file', async () => (await statusOf(gateway)) === 403);
  gateway.configure({ routes });
  await eventually('the configuration', async () => (await statusOf(gateway)) === 200);
});

t.test('a mounted folder whose link is swapped, as Kubernetes does it', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'postern-reload-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const publish = (version: string, value: string) => {
    mkdirSync(join(folder, version));
    writeFileSync(join(folder, version, 'scope'), value);
    symlinkSync(version, join(folder, '..data.new'));
    renameSync(join(folder, '..data.new'), join(folder, '..data'));
  };
  publish('v1', 'store:write');
  symlinkSync('..data/scope', join(folder, 'scope'));
  const gateway = await startWithKey(t, {
    routes: [{ prefix: '/api', upstream: 'app', scopes: [{ file: join(folder, 'scope') }] }],
  });
  t.equal(await statusOf(gateway), 200);
  publish('v2', 'store:read');
  await eventually('the other version', async () => (await statusOf(gateway)) === 403);
});

t.test('an invalid configuration changes nothing, and says what is wrong', async (t) => {
  const gateway = await startWithKey(t, { routes });
  for (const [number, wrong] of [
    { routes: [{ prefix: 'api', upstream: 'nowhere' }] },
    { nope: 1 },
  ].entries()) {
    gateway.configure(wrong);
    process.kill(gateway.pid!, 'SIGHUP');
    await eventually('the refusal', async () => (await reloads(gateway, 'failed')) > number);
    t.equal(await statusOf(gateway), 200);
  }
  writeFileSync(gateway.configFile, 'tenant: [');
  process.kill(gateway.pid!, 'SIGHUP');
  await eventually('the refusal', async () => (await reloads(gateway, 'failed')) > 2);
  const line = await eventually('the line', () =>
    gateway.logLines().find(({ msg }) => msg === 'config_reload_failed'),
  );
  t.match(line, { level: 'error', problems: [/:\d+:\d+: routes\[0\]/] });
  gateway.configure({ routes: closedRoutes });
  await eventually('the next good one', async () => (await statusOf(gateway)) === 403);
});

t.test('what needs a restart stays, is named, and the rest is taken over', async (t) => {
  const gateway = await startWithKey(t, { routes });
  gateway.configure({
    tenant: 'other',
    listen: { host: '127.0.0.1', port: 1 },
    stores: { records: 'sqlite:elsewhere.db', sessions: 'sqlite:sessions.db' },
    routes: closedRoutes,
  });
  process.kill(gateway.pid!, 'SIGHUP');
  await eventually('the new routes', async () => (await statusOf(gateway)) === 403);
  const line = await eventually('the line', () => gateway.logLines().find(({ keys }) => keys !== undefined));
  t.strictSame(line.keys, ['tenant', 'listen.port', 'stores']);
});

t.test('what is in flight finishes by the configuration it began under', async (t) => {
  const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>();
  const upstream = await startHttpUpstream(t, async (request, response) => {
    response.write('first half, ');
    if (request.url === '/api/slow') await mayEnd;
    response.end('second half');
  });
  const upstreams = { app: { url: upstream.url } };
  const gateway = await startWithKey(t, { routes, upstreams });
  const answer = await fetch(`http://127.0.0.1:${gateway.port}/api/slow`, {
    headers: { 'X-API-Key': gateway.key },
  });
  gateway.configure({ routes: closedRoutes, upstreams: { app: { url: 'builtin:echo' } } });
  process.kill(gateway.pid!, 'SIGHUP');
  await eventually('the new routes', async () => (await statusOf(gateway)) === 403);
  end();
  t.equal(await answer.text(), 'first half, second half');
  await eventually('the old connections are closed', async () => (await upstream.connections()) === 0);
});

t.test('limits, and whom to trust, count for connections there are and to come', async (t) => {
  const gateway = await startWithKey(t, { routes });
  const long = `/api/${'x'.repeat(2_000)}`;
  t.equal(await statusOf(gateway, long), 200);
  gateway.configure({ routes, limits: { target_bytes: '1KiB' } });
  await eventually('the limit', async () => (await statusOf(gateway, long)) === 414);
  t.equal(await statusOf(gateway), 200);
});
