import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { eventually } from '../support/eventually.ts';
import { startGatewayProcess } from '../support/gateway/gateway-process.ts';
import { scrape } from '../support/gateway/scrape.ts';
import { requireProgram } from '../support/programs.ts';
import { makeCertificate } from '../support/servers/certificates.ts';

t.test('series of a route that is gone go, and what was refused there stays counted', async (t) => {
  const routes = (name: string) => [
    { prefix: `/api/${name}`, upstream: 'app', scopes: ['store:read'] },
    { exact: '/api/kept', upstream: 'app', scopes: ['store:read'] },
  ];
  const gateway = await startGatewayProcess(t, { config: { routes: routes('old') } });
  const ask = async (path: string) => {
    const { status } = await gateway.api.send({ path });
    t.equal(status, 401, path);
  };
  await ask('/api/old/x');
  await ask('/api/kept');
  const routesShown = async () => {
    const { families } = await scrape(gateway.managementPort);
    const samples = families.get('postern_requests_total')!.samples;
    return new Set(samples.map(({ labels }) => labels.route));
  };
  t.ok((await routesShown()).has('/api/old'));

  gateway.configure({ routes: routes('new') });
  process.kill(gateway.pid!, 'SIGHUP');
  await eventually('the old route is gone', async () => !(await routesShown()).has('/api/old'));
  t.ok((await routesShown()).has('/api/kept'));
  const shown = await scrape(gateway.managementPort);
  t.notOk(
    [...shown.series].some((series) => series.includes('/api/old')),
    'and no other metric counts it either',
  );
  t.equal(shown.value('refusals_total', { code: 'not_authenticated' }), 2);
});

t.test('keys that need a restart are counted until they are reverted', async (t) => {
  const gateway = await startGatewayProcess(t, { config: {} });
  const waiting = async () => (await scrape(gateway.managementPort)).value('config_restart_needed');
  t.equal(await waiting(), 0);
  gateway.configure({ tenant: 'another', management: { host: '127.0.0.1', port: 1 } });
  process.kill(gateway.pid!, 'SIGHUP');
  await eventually('two keys wait', async () => (await waiting()) === 2);
  gateway.configure({});
  process.kill(gateway.pid!, 'SIGHUP');
  await eventually('none waits', async () => (await waiting()) === 0);
});

t.test('a configuration that arrives before its certificate is adopted once that exists', async (t) => {
  if (!requireProgram(t, 'openssl')) return;
  const folder = t.testdir();
  const [first, second] = [
    makeCertificate(folder, 'first', ['DNS:a']),
    makeCertificate(folder, 'second', ['DNS:a']),
  ];
  const renewed = { cert: join(folder, 'renewed.crt'), key: join(folder, 'renewed.key') };
  const listen = (tls: object) => ({ listen: { host: '127.0.0.1', port: 0, tls } });
  const gateway = await startGatewayProcess(t, {
    config: listen({ cert: first.certFile, key: first.keyFile }),
  });
  const reloads = async (outcome: string) =>
    (await scrape(gateway.managementPort)).value('config_reloads_total', { outcome });
  copyFileSync(second.certFile, renewed.cert);
  copyFileSync(first.keyFile, renewed.key);
  gateway.configure(listen(renewed));
  process.kill(gateway.pid!, 'SIGHUP');
  await eventually('it is refused', async () => (await reloads('failed')) > 0);
  const { problems } = await eventually('it is said', () =>
    gateway.logLines().find(({ msg }) => msg === 'config_reload_failed'),
  );
  t.match(problems, [/:\d+:\d+: listen\.tls\.key: must be the private key of the first certificate in cert/]);
  copyFileSync(second.keyFile, renewed.key);
  await eventually('it is adopted', async () => (await reloads('applied')) === 1);
});
