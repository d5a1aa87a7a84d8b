import t from 'tap';
import { startDeciding } from '../support/clients/decisions.ts';
import { exchangeRaw } from '../support/clients/raw-client.ts';
import { startForwarding } from '../support/gateway/forwarding.ts';

const local = { base_url: 'http://127.0.0.1:8080' };
const close = 'Connection: close';

t.test('on loopback alone, a name that was rebound to this machine is 421', async (t) => {
  const gateway = await startForwarding(t, {
    ...local,
    web: { path: '/postern' },
    routes: [
      { prefix: '/api/store', upstream: 'app' },
      { prefix: '/', upstream: 'app', browser: true },
    ],
  });
  const ask = async (host: string, line = 'GET /api/store/x', ...lines: string[]) => {
    const head = [`${line} HTTP/1.1`, host, `X-API-Key: ${gateway.key}`, close, ...lines, '', ''];
    return (await exchangeRaw(gateway.port, head.join('\r\n'))).responses[0];
  };
  const good = [
    ...['127.0.0.1', '127.0.0.1:8080', '127.9.8.7:1', 'localhost', 'LOCALHOST:8080', 'localhost.'],
    ...['acme.localhost', 'a.b.Localhost:8080', 'acme.localhost.:80', '[::1]', '[::1]:8080'],
    ...['[0:0:0:0:0:0:0:1]:80', '[::ffff:127.0.0.1]', '[::FFFF:7F00:1]:8080'],
  ];
  for (const host of good) t.equal((await ask(`Host: ${host}`))?.status, 200, host);
  const before = gateway.upstream.seen.length;
  const bad = [
    ...['rebound.example', 'rebound.example:8080', 'acme.example.com', '0.0.0.0', '128.0.0.1', '10.0.0.1:80'],
    ...[
      'localhost.example',
      'notlocalhost',
      '127.0.0.1.example',
      '127.0.0.1.',
      '127.1',
      '2130706433',
      '0x7f.0.0.1',
    ],
    ...[
      '127.0.0.256',
      '127.0.0.1.localhost.example',
      'localhost..',
      '.localhost',
      '[::2]',
      '[::ffff:10.0.0.1]',
      '[fe80::1]',
    ],
  ];
  for (const host of bad) {
    const response = await ask(`Host: ${host}`);
    t.match(response, { status: 421, json: { code: 'misdirected', detail: 'Misdirected request' } }, host);
    const line = gateway.logLines().findLast(({ msg }) => msg === 'request');
    const reason = 'host of another machine';
    t.match(line, { outcome: 'misdirected', reason, path: '', host, base_url: local.base_url });
  }
  const lines = [
    'GET /.well-known/jwks.json',
    'OPTIONS /api/login/access-token',
    'GET /nowhere',
    'GET /postern/sign-in',
  ];
  for (const line of [...lines, 'POST /api/login/access-token'])
    t.equal((await ask('Host: rebound.example', line, 'Content-Length: 0'))?.status, 421, line);
  t.equal((await ask('Host: a, b'))?.status, 400, 'a malformed one is that');
  const page = await ask('Host: rebound.example', 'GET /app', 'Accept: text/html');
  t.equal(page?.status, 421);
  t.match(page?.values('content-type'), [/^text\/html/]);
  t.match(page?.text, `<h1>This service is at ${local.base_url}</h1>`);
  t.match(page?.text, `href="${local.base_url}/app"`, 'the page leads to base_url');
  for (const target of ['//evil.example/', '/\\evil.example', '/a/../b//c'])
    t.match(
      (await ask('Host: rebound.example', `GET ${target}`, 'Accept: text/html'))?.text ?? '',
      new RegExp(`href="${local.base_url}/(?!/)|"code":"misdirected"`),
      target,
    );
  t.equal(gateway.upstream.seen.length, before);
  const [old] = (await exchangeRaw(gateway.port, 'GET /.well-known/jwks.json HTTP/1.0\r\n\r\n')).responses;
  t.equal(old?.status, 200, 'no browser leaves it out');

  await gateway.reload({});
  t.equal(
    (await ask('Host: rebound.example', 'GET /.well-known/jwks.json'))?.status,
    200,
    'a base_url elsewhere',
  );
});

t.test('with a base_url or a listener elsewhere any host is served', async (t) => {
  const configs = [{}, { ...local, listen: { host: '0.0.0.0' } }, { base_url: 'http://gateway.example' }];
  for (const config of configs) {
    const { port } = await startForwarding(t, config);
    const bytes = `GET /.well-known/jwks.json HTTP/1.1\r\nHost: any.example\r\n${close}\r\n\r\n`;
    t.equal((await exchangeRaw(port, bytes)).responses[0]?.status, 200, JSON.stringify(config));
  }
});

t.test('listeners for other proxies are asked about any host', async (t) => {
  const routes = [{ prefix: '/api', upstream: 'none', public: true }];
  const { ask } = await startDeciding(t, { ...local, routes });
  t.equal((await ask('caddy', { target: '/api/x' })).status, 200);
});
