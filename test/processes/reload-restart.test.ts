import { connect } from 'node:tls';
import t from 'tap';
import { eventually } from '../support/eventually.ts';
import { startGatewayProcess } from '../support/gateway/gateway-process.ts';
import { closedRoutes, keysAreNamed, reload, startReloaded } from '../support/gateway/reload.ts';
import { requireProgram } from '../support/programs.ts';
import { makeCertificate } from '../support/servers/certificates.ts';

const sqlite = { records: 'sqlite:records.db', sessions: 'sqlite:sessions.db' };
const loopback = { host: '127.0.0.1', port: 0 };

t.test('each key that needs a restart is named', async (t) => {
  const gateway = await startReloaded(t);
  const rows: [key: string, config: object][] = [
    ['tenant', { tenant: 'other' }],
    ['listen.host', { listen: { ...loopback, host: '127.0.0.2' } }],
    ['listen.port', { listen: { ...loopback, port: 1 } }],
    ['management', { management: { ...loopback, port: 1 } }],
    ['stores', { stores: { ...sqlite, sessions: 'sqlite:elsewhere.db' } }],
  ];
  for (const [key, config] of rows)
    await t.test(key, async () => {
      gateway.reload(config);
      await keysAreNamed(gateway, [key]);
    });
});

t.test('keys that need a restart stay, and the rest is adopted', async (t) => {
  const gateway = await startReloaded(t);
  gateway.reload({
    tenant: 'other',
    listen: { ...loopback, port: 1 },
    management: { ...loopback, port: 2 },
    stores: { ...sqlite, records: 'sqlite:elsewhere.db' },
    routes: closedRoutes,
  });
  await eventually('the new routes', async () => (await gateway.statusOf()) === 403);
  await keysAreNamed(gateway, ['tenant', 'listen.port', 'management', 'stores']);
  t.ok((await gateway.reloads('applied')) > 0, 'the management listener is where it was');
  const { headers } = await gateway.api.send({ path: '/api/x' });
  t.match(headers['www-authenticate'], /realm="acme"/);
});

t.test('TLS is not switched on', async (t) => {
  if (!requireProgram(t, 'openssl')) return;
  const { certFile: cert, keyFile: key } = makeCertificate(t.testdir(), 'listen', ['DNS:a']);
  const gateway = await startReloaded(t);
  gateway.reload({ listen: { ...loopback, tls: { cert, key } }, routes: closedRoutes });
  await keysAreNamed(gateway, ['listen.tls']);
  t.equal(await gateway.statusOf(), 403);
});

t.test('TLS is not switched off', async (t) => {
  if (!requireProgram(t, 'openssl')) return;
  const { certFile: cert, keyFile: key } = makeCertificate(t.testdir(), 'listen', ['DNS:a']);
  const gateway = await startGatewayProcess(t, { config: { listen: { ...loopback, tls: { cert, key } } } });
  reload(gateway, { listen: loopback });
  await keysAreNamed(gateway, ['listen.tls']);
  const socket = connect({ port: gateway.port, host: '127.0.0.1', rejectUnauthorized: false });
  t.teardown(() => socket.destroy());
  await new Promise((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject));
  t.equal(socket.getPeerCertificate().subject.CN, 'listen');
});
