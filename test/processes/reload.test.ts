import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { eventually } from '../support/eventually.ts';
import { closedRoutes, openRoutes, startReloaded } from '../support/gateway/reload.ts';
import { startHttpUpstream } from '../support/servers/http-upstream.ts';

t.test('SIGHUP: another configuration serves what comes next', async (t) => {
  const gateway = await startReloaded(t);
  t.equal(await gateway.statusOf(), 200);
  gateway.reload({ routes: closedRoutes, log: { level: 'warn' } });
  await eventually('the new routes', async () => (await gateway.statusOf()) === 403);
  t.equal(await gateway.reloads('applied'), 1);
  t.equal(await gateway.reloads('failed'), 0);
});

t.test('a changed file is enough, the configuration or one that a value comes from', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'postern-reload-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const scope = join(folder, 'scope');
  writeFileSync(scope, 'store:write\n');
  const fromFile = [{ prefix: '/api', upstream: 'app', scopes: [{ file: scope }] }];
  const gateway = await startReloaded(t, { routes: fromFile });
  t.equal(await gateway.statusOf(), 200);
  writeFileSync(scope, 'store:read\n');
  await eventually('the value of the file', async () => (await gateway.statusOf()) === 403);
  gateway.configure({ routes: openRoutes });
  await eventually('the configuration', async () => (await gateway.statusOf()) === 200);
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
  const gateway = await startReloaded(t, {
    routes: [{ prefix: '/api', upstream: 'app', scopes: [{ file: join(folder, 'scope') }] }],
  });
  t.equal(await gateway.statusOf(), 200);
  publish('v2', 'store:read');
  await eventually('the other version', async () => (await gateway.statusOf()) === 403);
});

t.test('an invalid configuration changes nothing, and says what is wrong', async (t) => {
  const gateway = await startReloaded(t);
  for (const [number, wrong] of [
    { routes: [{ prefix: 'api', upstream: 'nowhere' }] },
    { nope: 1 },
  ].entries()) {
    gateway.reload(wrong);
    await eventually('the refusal', async () => (await gateway.reloads('failed')) > number);
    t.equal(await gateway.statusOf(), 200);
  }
  writeFileSync(gateway.configFile, 'tenant: [');
  process.kill(gateway.pid!, 'SIGHUP');
  await eventually('the refusal', async () => (await gateway.reloads('failed')) > 2);
  const line = await eventually('the line', () =>
    gateway.logLines().find(({ msg }) => msg === 'config_reload_failed'),
  );
  t.match(line, { level: 'error', problems: [/:\d+:\d+: routes\[0\]/] });
  gateway.configure({ routes: closedRoutes });
  await eventually('the next valid one', async () => (await gateway.statusOf()) === 403);
});

t.test('a request in flight finishes by the configuration it began under', async (t) => {
  const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>();
  const upstream = await startHttpUpstream(t, async (request, response) => {
    response.write('first half, ');
    if (request.url === '/api/slow') await mayEnd;
    response.end('second half');
  });
  const upstreams = { app: { url: upstream.url } };
  const gateway = await startReloaded(t, { upstreams });
  const response = await fetch(`http://127.0.0.1:${gateway.port}/api/slow`, {
    headers: { 'X-API-Key': gateway.key },
  });
  gateway.reload({ routes: closedRoutes, upstreams: { app: { url: 'builtin:echo' } } });
  await eventually('the new routes', async () => (await gateway.statusOf()) === 403);
  end();
  t.equal(await response.text(), 'first half, second half');
  await eventually('the old connections are closed', async () => (await upstream.connections()) === 0);
});
