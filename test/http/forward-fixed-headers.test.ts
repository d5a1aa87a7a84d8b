import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { connectRaw, exchangeRaw } from '../support/clients/raw-client.ts';
import { startForwarding } from '../support/gateway/forwarding.ts';
import { startRecordingUpstream } from '../support/servers/recording-upstream.ts';

const shared = 'a secret for pgAdmin';
const names = ['x-shared-secret', 'authorization', 'x-motto'];

/** A gateway in front of an upstream with fixed headers, and of another without. */
async function scene(t: Parameters<typeof startForwarding>[0] & { testdir(): string }, engine = 'built_in') {
  const guarded = await startRecordingUpstream();
  t.teardown(() => guarded.close());
  const other = await startRecordingUpstream();
  t.teardown(() => other.close());
  const file = join(t.testdir(), 'secret');
  writeFileSync(file, `${shared}\n`);
  const headers = {
    'X-Shared-Secret': { file },
    Authorization: 'Basic cG9zdGVybjpnZWhlaW0=',
    'X-Motto': 'grün ist die Heide',
  };
  const gateway = await startForwarding(t, {
    listen: { engine },
    log: { level: 'debug' },
    upstreams: { app: { url: guarded.url, headers }, other: { url: other.url } },
    routes: [
      { prefix: '/api/app', upstream: 'app' },
      { prefix: '/api/app/open', upstream: 'app', public: true },
      { prefix: '/api/app/cors', upstream: 'app', preflight: 'upstream' },
      { prefix: '/api/other', upstream: 'other' },
      { prefix: '/api/other/open', upstream: 'other', public: true },
    ],
  });
  for (const secret of [shared, headers.Authorization, headers['X-Motto']]) gateway.secrets.add(secret);
  return { gateway, guarded, other, sent: [[shared], [headers.Authorization], ['grün ist die Heide']] };
}

/** Spellings of the fixed names, with which a client tries to say something else. */
const claims = [
  'X-Shared-Secret',
  'x-shared-secret',
  'X_Shared_Secret',
  'X.Shared.Secret',
  'X-MOTTO',
  'X_Motto',
];
const claimed = Object.fromEntries(claims.map((name) => [name, 'evil']));
const utf8 = (texts: readonly string[]) => texts.map((text) => Buffer.from(text, 'latin1').toString());

for (const engine of ['built_in', 'node'])
  t.test(
    `an upstream gets its fixed headers from every caller, in place of the client’s: ${engine}`,
    async (t) => {
      const { gateway, guarded, sent } = await scene(t, engine);
      await gateway.api.send({ path: '/api/app/x', bearer: gateway.bearer, headers: claimed });
      await gateway.api.send({ path: '/api/app/x', headers: { ...claimed, 'x-api-key': gateway.key } });
      await gateway.api.send({
        path: '/api/app/open',
        headers: { ...claimed, authorization: 'Basic ZXZpbDpldmls' },
      });
      const named = ['Connection: close, X-Shared-Secret, X-Motto', ...claims.map((name) => `${name}: evil`)];
      await exchangeRaw(
        gateway.port,
        gateway.raw('POST /api/app/x HTTP/1.1', [...named, 'Content-Length: 2'], 'ab'),
      );
      t.equal(guarded.seen.length, 4);
      for (const seen of guarded.seen) {
        t.same(
          names.map((name) => utf8(seen.values(name))),
          sent,
          seen.target,
        );
        t.notMatch(JSON.stringify(seen.rawHeaders), /evil|ZXZpbDpldmls/);
      }
    },
  );

t.test('no other upstream gets one, and no client can send one there', async (t) => {
  const { gateway, other } = await scene(t);
  await gateway.api.send({ path: '/api/other/x', bearer: gateway.bearer, headers: claimed });
  await gateway.api.send({ path: '/api/other/open', headers: claimed });
  t.equal(other.seen.length, 2);
  for (const seen of other.seen) {
    t.same(
      names.map((name) => seen.values(name)),
      [[], [], []],
    );
    t.notMatch(JSON.stringify(seen.rawHeaders), /evil/);
  }
});

t.test('a preflight that passes unauthenticated carries none', async (t) => {
  const { gateway, guarded } = await scene(t);
  const preflight = { origin: 'https://a.example', 'access-control-request-method': 'PUT' };
  const { status } = await gateway.api.send({
    method: 'OPTIONS',
    path: '/api/app/cors',
    headers: { ...claimed, ...preflight },
  });
  t.equal(status, 200);
  t.same(
    names.map((name) => guarded.seen[0]!.values(name)),
    [[], [], []],
  );
});

t.test('a WebSocket’s handshake carries them', async (t) => {
  const { gateway, guarded, sent } = await scene(t);
  const upgrade = [
    ...['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'],
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  ];
  const connection = await connectRaw(gateway.port);
  connection.write(gateway.raw('GET /api/app/socket HTTP/1.1', upgrade));
  await connection.response();
  connection.reset();
  t.same(
    names.map((name) => utf8(guarded.seen[0]!.values(name))),
    sent,
  );
});

t.test('a reload changes them', async (t) => {
  const gateway = await startForwarding(t);
  const upstreams = { app: { url: gateway.upstream.url, headers: { 'X-Shared-Secret': 'another secret' } } };
  await gateway.reload({ upstreams });
  gateway.secrets.add('another secret');
  await gateway.api.send({ path: '/api/store/x', bearer: gateway.bearer, headers: claimed });
  t.same(gateway.upstream.seen[0]!.values('x-shared-secret'), ['another secret']);
});
