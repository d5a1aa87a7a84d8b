import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { exchangeRaw } from '../support/clients/raw-client.ts';
import { startForwarding } from '../support/gateway/forwarding.ts';
import { startRawUpstream } from '../support/servers/raw-upstream.ts';

t.test('a client that pipelines and never reads is made to wait, and costs no memory', async (t) => {
  const gateway = await startForwarding(t);
  const socket = connect({ port: gateway.port, host: '127.0.0.1' });
  socket.on('error', () => {});
  socket.pause();
  const requests = Buffer.from('GET /nowhere HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(2_000));
  let taken = 0;
  for (let i = 0; i < 2_000; i++) {
    if (socket.write(requests)) taken++;
    else if (!(await Promise.race([new Promise((go) => socket.once('drain', () => go(true))), sleep(500)])))
      break;
    else taken++;
  }
  t.ok(taken < 1_000, `the gateway read ${taken} of 2,000 writes of 70 kB before it stopped`);
  t.ok(await gateway.stillServes());
  socket.destroy();
});

t.test('an OPTIONS request with an Upgrade is not a preflight, and needs a credential', async (t) => {
  const gateway = await startForwarding(t, {
    routes: [{ prefix: '/api', upstream: 'app', upgrades: ['foo'] }],
  });
  const lines = ['Origin: https://evil.example', 'Access-Control-Request-Method: GET', 'Connection: Upgrade'];
  const bytes = [
    'OPTIONS /api/tunnel HTTP/1.1',
    'Host: a',
    ...lines,
    'Upgrade: foo',
    'Connection: close',
    '',
    '',
  ];
  const { responses } = await exchangeRaw(gateway.port, bytes.join('\r\n'));
  t.equal(responses[0]?.status, 401);
  t.same(gateway.upstream.seen, []);
});

t.test('a preflight that is passed on to a public route carries no cookie', async (t) => {
  const gateway = await startForwarding(t, {
    routes: [{ prefix: '/api/open', upstream: 'app', public: true, preflight: 'upstream' }],
  });
  await gateway.api.send({
    method: 'OPTIONS',
    path: '/api/open/x',
    headers: { origin: 'https://a.example', 'access-control-request-method': 'GET', cookie: 'app=1' },
  });
  t.same(gateway.upstream.seen[0]!.values('cookie'), []);
});

t.test('a body that an upstream sends after the response to HEAD goes to no other request', async (t) => {
  const upstream = await startRawUpstream(t, ({ socket, text }) => {
    if (!text.startsWith('HEAD'))
      return void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood');
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 40\r\n\r\n');
    setTimeout(() => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil'), 2);
  });
  const gateway = await startForwarding(t, { upstreams: { app: { url: upstream.url, max_connections: 1 } } });
  for (let i = 0; i < 10; i++) {
    const call = { path: '/api/store/x', apiKey: gateway.key };
    const responses = [
      gateway.api.send({ ...call, method: 'HEAD' }),
      sleep(1).then(() => gateway.api.send(call)),
    ];
    t.equal((await Promise.all(responses))[1]!.text, 'good');
  }
});

t.test('an address over its limit leaves no counters by which others would be forgotten', async (t) => {
  const gateway = await startForwarding(t, {
    login_throttle: { per_account_and_address: 2, per_account: 100, per_address: 4, window: '15m' },
    trusted_proxies: ['127.0.0.1'],
  });
  const attempt = (username: string, address: string) =>
    gateway.api.send({
      method: 'POST',
      path: '/api/login/access-token',
      form: { username, password: 'a wrong password' },
      headers: { 'x-forwarded-for': address },
    });
  for (let i = 0; i < 3; i++) await attempt('ada', '192.0.2.1');
  for (let i = 0; i < 40; i++) await attempt(`name-${i}`, '192.0.2.2');
  t.equal((await attempt('ada', '192.0.2.1')).status, 429);
  t.equal((await attempt('name-50', '192.0.2.2')).status, 429);
});

t.test('chunks of a byte each reach the upstream as what they are together', async (t) => {
  const gateway = await startForwarding(t);
  const chunks = '1\r\nx\r\n'.repeat(5_000);
  const bytes = gateway.raw('PUT /api/store/x HTTP/1.1', ['Transfer-Encoding: chunked', 'Connection: close']);
  const { responses } = await exchangeRaw(gateway.port, `${bytes}${chunks}0\r\n\r\n`);
  t.equal(responses[0]?.status, 200);
  t.equal(gateway.upstream.seen[0]!.body.length, 5_000);
});

t.test('user names that differ only in case are the same, even if one case has two letters', async (t) => {
  const { canonicalAccountName } = await import('../../src/rules/account-name.ts');
  t.equal(canonicalAccountName('ΟΔΥΣΣΕΥΣ'), canonicalAccountName('οδυσσευσ'));
  t.equal(canonicalAccountName('STRASSE'), canonicalAccountName('straße'));
});
