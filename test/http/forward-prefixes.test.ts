import t from 'tap';
import { connectRaw } from '../support/clients/raw-client.ts';
import { startForwarding } from '../support/gateway/forwarding.ts';
import type { TestScope } from '../support/gateway/gateway.ts';
import { assertionSettings, exampleVerifier, makeSecret } from '../support/servers/asserting-upstream.ts';
import { startRecordingUpstream } from '../support/servers/recording-upstream.ts';

const preflight = { Origin: 'https://a.example', 'Access-Control-Request-Method': 'PUT' };

async function start(t: TestScope, engine: string) {
  const [files, base] = [await startRecordingUpstream(), await startRecordingUpstream()];
  t.teardown(() => files.close());
  t.teardown(() => base.close());
  const { secret, file } = makeSecret();
  const assertion = assertionSettings('HS256', file);
  const gateway = await startForwarding(t, {
    listen: { engine },
    trusted_proxies: ['127.0.0.0/8'],
    upstreams: { app: { url: files.url, assertion }, base: { url: `${base.url}/app/v1.0` } },
    routes: [
      { prefix: '/files', upstream: 'app', strip_prefix: '/files', paths: { encoded_delimiters: 'pass' } },
      { exact: '/files/deep/one', upstream: 'app', strip_prefix: '/files/', public: true },
      { prefix: '/tools/a', upstream: 'base', strip_prefix: '/tools', preflight: 'upstream' },
      { prefix: '/plain', upstream: 'base' },
    ],
  });
  return { ...gateway, files: files.seen, base: base.seen, algorithm: 'HS256' as const, secret };
}

for (const engine of ['built_in', 'node'])
  t.test(
    `a prefix is stripped, and the path of the upstream prepended, with the engine ${engine}`,
    async (t) => {
      const gateway = await start(t, engine);
      const verify = exampleVerifier(gateway);
      const stripped: [target: string, sent: string][] = [
        ['/files', '/'],
        ['/files/', '/'],
        ['/files?a=/files', '/?a=/files'],
        ['/files/?', '/?'],
        ['/files/a/b?c=d', '/a/b?c=d'],
        ['/files/files/x', '/files/x'],
        ['/files/C%23%20%3F.txt', '/C%23%20%3F.txt'],
        ['/files/deep/one', '/deep/one'],
        ['/files/deep/one/', '/deep/one/'],
        ['/files/deep', '/deep'],
      ];
      for (const [path, sent] of stripped) {
        t.equal((await gateway.api.send({ path, apiKey: gateway.key })).status, 200, path);
        const [seen] = gateway.files.splice(0);
        t.equal(seen?.target, sent, path);
        t.same(seen?.values('x-forwarded-prefix'), ['/files'], path);
        t.equal(
          (await verify(seen!)).iss,
          'https://acme.example.com',
          'the assertion is bound to what is sent',
        );
      }
      const prepended: [target: string, sent: string, prefix: string[]][] = [
        ['/tools/a', '/app/v1.0/a', ['/tools']],
        ['/tools/a/?x', '/app/v1.0/a/?x', ['/tools']],
        ['/tools/a/b', '/app/v1.0/a/b', ['/tools']],
        ['/plain', '/app/v1.0/plain', []],
        ['/plain/x?y', '/app/v1.0/plain/x?y', []],
      ];
      for (const [path, sent, prefix] of prepended) {
        await gateway.api.send({ path, apiKey: gateway.key });
        const [seen] = gateway.base.splice(0);
        t.equal(seen?.target, sent, path);
        t.same(seen?.values('x-forwarded-prefix'), prefix, path);
      }
      await gateway.api.send({ method: 'OPTIONS', path: '/tools/a/b?c', headers: preflight });
      t.equal(gateway.base.splice(0)[0]?.target, '/app/v1.0/a/b', 'a preflight, without its query');

      const lies = {
        'X-Forwarded-Prefix': '/evil',
        x_forwarded_prefix: '/evil',
        'X-Forwarded-prefix': '/evil',
      };
      for (const path of ['/files/x', '/plain/x']) {
        await gateway.api.send({ path, apiKey: gateway.key, headers: lies });
        const [seen] = [...gateway.files.splice(0), ...gateway.base.splice(0)];
        t.notOk(seen?.rawHeaders.includes('/evil'), `${path}: nobody else says what was stripped`);
      }
      t.equal((await gateway.api.send({ path: '/filesx', apiKey: gateway.key })).status, 404);
      t.equal((await gateway.api.send({ path: '/Files/x', apiKey: gateway.key })).status, 404);

      const line = gateway.logLines().find(({ path }) => path === '/tools/a/b');
      t.match(line, { route: '/tools/a', path: '/tools/a/b' }, 'the log has the path as it came');
    },
  );

t.test('the whole path of a route leaves the path of its upstream and a slash', async (t) => {
  const upstream = await startRecordingUpstream();
  t.teardown(() => upstream.close());
  const gateway = await startForwarding(t, {
    upstreams: { app: { url: `${upstream.url}/app` } },
    routes: [{ prefix: '/one/two', upstream: 'app', strip_prefix: '/one/two' }],
  });
  for (const path of ['/one/two', '/one/two/', '/one/two?x', '/one/two/x'])
    await gateway.api.send({ path, apiKey: gateway.key });
  t.same(
    upstream.seen.map(({ target }) => target),
    ['/app/', '/app/', '/app/?x', '/app/x'],
  );
});

t.test('a request that upgrades, and one with a body, lose the prefix too', async (t) => {
  const gateway = await start(t, 'built_in');
  const connection = await connectRaw(gateway.port);
  connection.write(
    gateway.raw('POST /files/up HTTP/1.1', ['Transfer-Encoding: chunked'], '3\r\nabc\r\n0\r\n\r\n'),
  );
  t.equal((await connection.response()).status, 200);
  connection.write(
    gateway.raw('GET /files/socket HTTP/1.1', [
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
    ]),
  );
  await connection.response();
  connection.reset();
  t.same(
    gateway.files.map(({ method, target }) => `${method} ${target}`),
    ['POST /up', 'GET /socket'],
  );
  t.equal(String(gateway.files[0]?.body), 'abc');
});
