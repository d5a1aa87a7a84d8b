import t from 'tap';
import { startDeciding } from '../support/clients/decisions.ts';
import { exchangeRaw } from '../support/clients/raw-client.ts';
import { startForwarding } from '../support/gateway/forwarding.ts';
import { startTestGateway } from '../support/gateway/gateway.ts';
import { startTcpRelay } from '../support/servers/tcp-relay.ts';

const close = ['Connection: close'];

t.test('each request says that it has passed here, after what it said before', async (t) => {
  const gateway = await startForwarding(t);
  const seenFor = async (...lines: string[]) => {
    await exchangeRaw(gateway.port, gateway.raw('GET /api/store/x HTTP/1.1', [...close, ...lines]));
    return gateway.upstream.seen.at(-1)!.values('postern-via');
  };
  const [own, ...more] = await seenFor();
  t.match(own, /^[A-Za-z0-9_-]{16,64}$/);
  t.same(more, []);
  t.same(await seenFor(), [own], 'it stays the same');
  t.same(await seenFor('Postern-Via: other'), [`other, ${own}`]);
  t.same(await seenFor('Postern-Via: a, b', 'postern-via: c'), [`a, b, c, ${own}`]);
  t.same(await seenFor('Postern_Via: x', 'Postern.Via: y'), [own], 'odd spellings are dropped');
  t.same(await seenFor('Postern-Via:'), [own]);
  await gateway.reload({});
  t.same(await seenFor(), [own], 'a reload is no other process');

  const another = await startForwarding(t);
  await exchangeRaw(
    another.port,
    another.raw('GET /api/store/x HTTP/1.1', [...close, `Postern-Via: ${own}`]),
  );
  const [both] = another.upstream.seen.at(-1)!.values('postern-via');
  t.ok(both!.startsWith(`${own}, `), 'two gateways are not one');
  t.not(both, `${own}, ${own}`);
});

t.test('a request that has passed here is 508 before anyone asks who is calling', async (t) => {
  const gateway = await startForwarding(t);
  const plain = (line: string, ...lines: string[]) =>
    [`${line} HTTP/1.1`, 'Host: a', ...close, ...lines, '', ''].join('\r\n');
  await exchangeRaw(gateway.port, plain('GET /api/open/x'));
  const [own] = gateway.upstream.seen.at(-1)!.values('postern-via');
  const via = `Postern-Via: ${own}`;
  const before = gateway.upstream.seen.length;
  const rows: [string, string][] = [
    ['with a credential', gateway.raw('GET /api/store/x HTTP/1.1', [...close, via])],
    ['without one', plain('GET /api/store/x', via)],
    ['on a public route', plain('GET /api/open/x', via)],
    ['among others', plain('GET /api/open/x', 'Postern-Via: a', `Postern-Via: b,${own} ,c`)],
    ['though Connection names it', plain('GET /api/open/x', via, 'Connection: Postern-Via')],
    ['with a body', plain('POST /api/open/x', via, 'Content-Length: 0')],
  ];
  for (const [name, bytes] of rows) {
    const { responses } = await exchangeRaw(gateway.port, bytes);
    t.match(responses[0], { status: 508, json: { code: 'loop_detected', detail: 'Loop detected' } }, name);
    const line = gateway.logLines().findLast(({ msg }) => msg === 'request');
    t.match(line, { status: 508, outcome: 'loop_detected', reason: 'passed here before' });
  }
  t.equal(gateway.upstream.seen.length, before);
  const { responses } = await exchangeRaw(gateway.port, plain('GET /.well-known/jwks.json', via));
  t.equal(responses[0]?.status, 200, 'no own path leads anywhere');
});

t.test('an upstream that leads back ends the loop at its first round', async (t) => {
  const relay = await startTcpRelay(t, { port: 1, url: 'http://127.0.0.1:1' });
  const routes = [{ prefix: '/', upstream: 'app', public: true }];
  const config = { upstreams: { app: { url: relay.url } }, routes };
  const gateway = await startTestGateway(t, { config });
  relay.retarget({ port: gateway.port });
  const { responses } = await exchangeRaw(
    gateway.port,
    `GET /x HTTP/1.1\r\nHost: a\r\nX-Request-Id: once\r\nConnection: close\r\n\r\n`,
  );
  t.match(responses[0], { status: 508, json: { code: 'loop_detected', request_id: 'once' } });
  const lines = gateway.logLines().filter(({ msg }) => msg === 'request');
  t.equal(lines.length, 2);
});

t.test('decisions neither read nor answer it', async (t) => {
  const { ask, portOf, upstream, port } = await startDeciding(t, {
    routes: [{ prefix: '/api', upstream: 'app', public: true }],
  });
  t.ok(portOf('caddy'));
  await exchangeRaw(port, 'GET /api/x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
  const [own] = upstream.seen.at(-1)!.values('postern-via');
  for (const mode of ['nginx', 'caddy', 'envoy'] as const) {
    const { status, rawHeaders } = await ask(mode, { target: '/api/x', lines: [`Postern-Via: ${own}`] });
    t.equal(status, 200, mode);
    t.notOk(rawHeaders.some((name) => /postern-via/i.test(name)));
  }
});
