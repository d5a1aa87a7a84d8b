import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { describingLines, sendQuestion, startDeciding } from '../support/clients/decisions.ts';
import { connectRaw } from '../support/clients/raw-client.ts';
import { makeCertificate } from '../support/servers/certificates.ts';

const routes = [
  { prefix: '/api/open', upstream: 'none', public: true },
  { prefix: '/api', upstream: 'none' },
];

t.test('limits are those of the public listener, and refusals keep the shape of the mode', async (t) => {
  const { ask, portOf, logLines } = await startDeciding(t, {
    routes,
    limits: { target_bytes: 64, header_count: 12, header_bytes: '1KiB' },
  });
  const long = `/api/open/${'x'.repeat(64)}`;
  const many = Array.from({ length: 12 }, (_, index) => `X-${index}: 1`);
  const big = [`X-Big: ${'x'.repeat(1024)}`];
  for (const [mode, status] of [
    ['nginx', 403],
    ['caddy', undefined],
    ['envoy', undefined],
  ] as const) {
    const rows: [target: string, lines: string[], status: number, code: string][] = [
      [long, [], 414, 'target_too_long'],
      ['/api/open', many, 431, 'headers_too_large'],
      ['/api/open', big, 431, 'headers_too_large'],
      ['/api/open', ['no header'], 400, 'bad_request'],
    ];
    for (const [target, lines, own, code] of rows) {
      const answer = await ask(mode, { target, lines });
      t.match(answer, { status: status ?? own, json: { code } }, `${mode} ${code}`);
      t.strictSame(answer.values('x-auth-code'), [code]);
    }
    t.equal((await ask(mode, { target: '/api/open' })).status, 200);
    const unreadable = await sendQuestion(portOf(mode), 'GET / HTTP/2.0', []);
    t.equal(unreadable.status, mode === 'envoy' ? 403 : 505);
  }
  t.match(
    logLines().find(({ msg }) => msg === 'request could not be read'),
    { forward_auth: 'nginx', outcome: 'headers_too_large' },
  );
});

t.test('many decisions on one connection', async (t) => {
  const { portOf, key } = await startDeciding(t, { routes });
  const connection = await connectRaw(portOf('nginx'));
  for (const [target, status] of [
    ['/api/open', 200],
    ['/api/x', 200],
    ['/nowhere', 403],
    ['/api/x', 200],
  ] as const) {
    const lines = ['Host: a', `X-API-Key: ${key}`, ...describingLines('nginx', 'HEAD', target)[1]];
    connection.write(['GET / HTTP/1.1', ...lines, '', ''].join('\r\n'));
    t.equal((await connection.response()).status, status);
  }
  connection.reset();
});

t.test('metrics and lines of decisions', async (t) => {
  const { ask, key, keyId, managementPort, logLines } = await startDeciding(t, { routes });
  await ask('nginx', {
    method: 'PUT',
    target: '/api/x?secret=1',
    lines: [`X-API-Key: ${key}`, 'X-Request-Id: r-1'],
  });
  await ask('nginx', { target: '/api/x', lines: ['X-Request-Id: r-2'] });
  await ask('envoy', { target: '/nowhere', lines: ['X-Request-Id: r-3'] });
  await ask('caddy', { target: '/api/open', lines: ['Script-Name: /x', 'X-Request-Id: r-4'] });
  const line = (id: string) => logLines().find(({ request_id: other }) => other === id);
  t.match(line('r-1'), {
    method: 'PUT',
    path: '/api/x',
    route: '/api',
    status: 200,
    outcome: 'ok',
    key: keyId,
    forward_auth: 'nginx',
    address: '192.0.2.7',
  });
  t.match(line('r-2'), {
    status: 401,
    outcome: 'not_authenticated',
    reason: 'no credential',
    address: '192.0.2.7',
  });
  t.match(line('r-3'), { forward_auth: 'envoy', status: 404, reason: 'no route', path: '/nowhere' });
  t.match(line('r-4'), { forward_auth: 'caddy', reason: 'header that the proxy would pass on', path: '' });
  const text = await (await fetch(`http://127.0.0.1:${managementPort}/metrics`)).text();
  for (const sample of [
    'postern_decisions_total{mode="nginx",route="/api",outcome="ok"} 1',
    'postern_decisions_total{mode="nginx",route="/api",outcome="not_authenticated"} 1',
    'postern_decisions_total{mode="envoy",route="",outcome="not_found"} 1',
    'postern_decision_duration_seconds_count{mode="caddy"} 1',
  ])
    t.ok(text.includes(sample), sample);
  t.notMatch(text, /requests_total\{route="\/api",method="write"/, 'decisions are no requests');
});

t.test('a reload changes who may ask and what; addresses and modes need a restart', async (t) => {
  const listener = { mode: 'caddy', port: 0 };
  const { reload, decisionPorts, logLines } = await startDeciding(t, { routes, forward_auth: [listener] });
  const ask = (lines: string[] = []) => {
    const [line, described] = describingLines('caddy', 'GET', '/api/open/x');
    return sendQuestion(decisionPorts[0]!, line, ['Host: a', ...described, ...lines]);
  };
  const restarts = () => logLines().filter(({ msg }) => msg === 'configuration changes need a restart');
  t.equal((await ask()).status, 200);
  await reload({ routes, forward_auth: [{ ...listener, proxies: ['192.0.2.1'] }] });
  t.equal((await ask()).status, 403);
  await reload({ routes, forward_auth: [{ ...listener, client_headers: 'pass' }] });
  t.equal((await ask(['Script-Name: /x'])).status, 200);
  await reload({ routes: [{ prefix: '/other', upstream: 'app' }], forward_auth: [listener] });
  t.equal((await ask()).status, 404);
  t.strictSame(restarts(), []);
  for (const changed of [
    [{ ...listener, port: 1 }],
    [{ ...listener, mode: 'traefik' }],
    [{ ...listener, host: '127.0.0.2' }],
    [listener, { mode: 'nginx', port: 0 }],
    [],
  ]) {
    await reload({ routes, forward_auth: changed });
    t.match(restarts().pop(), { keys: ['forward_auth'] });
    t.equal((await ask()).status, 200, 'it goes on as it was');
  }
});

t.test('a listener that needs a restart keeps none of the others back', async (t) => {
  const [caddy, traefik] = [
    { mode: 'caddy', port: 0 },
    { mode: 'traefik', port: 0 },
  ];
  const { reload, decisionPorts, logLines } = await startDeciding(t, {
    routes,
    forward_auth: [caddy, traefik],
  });
  const ask = async (at: number) => {
    const [line, described] = describingLines(at === 0 ? 'caddy' : 'traefik', 'GET', '/api/open/x');
    return (await sendQuestion(decisionPorts[at]!, line, ['Host: a', ...described])).status;
  };
  const restarts = () => logLines().filter(({ msg }) => msg === 'configuration changes need a restart');
  const closed = { ...caddy, proxies: ['192.0.2.1'] };
  t.same([await ask(0), await ask(1)], [200, 200]);
  await reload({ routes, forward_auth: [closed, { ...traefik, port: 1, proxies: ['192.0.2.1'] }] });
  t.same([await ask(0), await ask(1)], [403, 200], 'what stays where it is, is changed');
  t.match(restarts(), [{ keys: ['forward_auth'] }]);
  await reload({ routes, forward_auth: [{ ...traefik, proxies: ['192.0.2.1'] }, caddy] });
  t.same([await ask(0), await ask(1)], [200, 403], 'in whatever order');
  t.equal(restarts().length, 1, 'which is none of their addresses');
});

t.test('over TLS, with a certificate that is renewed by a reload', async (t) => {
  const folder = t.testdir();
  const first = makeCertificate(folder, 'first', ['DNS:localhost']);
  makeCertificate(folder, 'second', ['DNS:localhost']);
  const tlsOf = (name: string) => ({ cert: join(folder, `${name}.crt`), key: join(folder, `${name}.key`) });
  const configOf = (name: string) => ({
    routes,
    forward_auth: [{ mode: 'nginx', port: 0, tls: tlsOf(name) }],
  });
  const { reload, decisionPorts, managementPort } = await startDeciding(t, configOf('first'));
  const [line, described] = describingLines('nginx', 'GET', '/api/open/x');
  const statusBy = async (ca: string | Buffer) => {
    const connection = await connectRaw(decisionPorts[0]!, { ca, servername: 'localhost' });
    connection.write([line, 'Host: a', 'Connection: close', ...described, '', ''].join('\r\n'));
    return (await connection.response()).status;
  };
  t.equal(await statusBy(first.cert), 200);
  await reload(configOf('second'));
  await t.rejects(statusBy(first.cert));
  t.equal(await statusBy(readFileSync(join(folder, 'second.crt'))), 200);
  const text = await (await fetch(`http://127.0.0.1:${managementPort}/metrics`)).text();
  t.match(text, /postern_certificate_expiry_timestamp_seconds\{file="forward_auth\[0\].tls.cert"\} \d+/);
});

t.test('a drain lets decisions finish', async (t) => {
  const { portOf, stop } = await startDeciding(t, { routes });
  const connection = await connectRaw(portOf('nginx'));
  const [line, described] = describingLines('nginx', 'GET', '/api/open/x');
  const text = [line, 'Host: a', ...described, '', ''].join('\r\n');
  connection.write(text);
  t.strictSame((await connection.response()).values('connection'), ['keep-alive']);
  const stopped = stop();
  connection.write(text);
  const last = await connection.response();
  t.equal(last.status, 200);
  t.strictSame(last.values('connection'), ['close']);
  await stopped;
  await t.rejects(connectRaw(portOf('nginx')));
});
