import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { connectRaw } from '../support/clients/raw-client.ts';
import { expected } from '../support/corpora/engine-differences.ts';
import { eventually, startForwarding } from '../support/gateway/forwarding.ts';
import { plainResponse, startRawUpstream } from '../support/servers/raw-upstream.ts';
import { switchingResponse } from '../support/servers/upgrades.ts';
import { webSocketLines } from '../support/servers/web-sockets.ts';

/** A gateway whose upstream answers by hand, and a client that has asked for a WebSocket. */
async function asking(t: Test, early = '', lines: readonly string[] = webSocketLines, config: object = {}) {
  let asked: (socket: Socket) => void = () => {};
  const upstreamSocket = new Promise<Socket>((resolve) => {
    asked = resolve;
  });
  const upstream = await startRawUpstream(t, ({ socket, index }) => {
    if (index === 0) asked(socket);
    else socket.write(plainResponse());
  });
  const shutdown = { timeout: '50ms' };
  const gateway = await startForwarding(t, {
    upstreams: { app: { url: upstream.url } },
    shutdown,
    ...config,
  });
  const client = await connectRaw(gateway.port);
  client.write(gateway.raw('GET /api/store/live HTTP/1.1', lines, early));
  return { gateway, upstream, client, socket: await upstreamSocket };
}

const passes = 'a refusal of the upstream’s passes with its body, and both connections go on';
t.test(passes, async (t) => {
  const { goesOn } = expected(passes, { goesOn: true });
  const { gateway, upstream, client, socket } = await asking(t);
  socket.write('HTTP/1.1 403 Forbidden\r\nContent-Length: 5\r\nX-Why: full\r\n\r\nsorry');
  const refused = await client.response();
  t.match(refused, { status: 403, text: 'sorry' });
  t.same(refused.values('x-why'), ['full']);
  t.same(refused.values('upgrade'), []);
  if (!goesOn) {
    t.equal(await client.closed, 'ended');
    await eventually(() => upstream.open === 0);
    return;
  }
  client.write(gateway.raw('GET /api/store/x HTTP/1.1'));
  t.equal((await client.response()).text, 'fine');
  t.equal(upstream.accepted, 1);
});

t.test('nothing that the client sends early passes before the upstream has agreed', async (t) => {
  const { upstream, client, socket } = await asking(t, 'early bytes');
  client.write(', more of them');
  await sleep(100);
  t.ok(upstream.received.endsWith('\r\n\r\n'), 'the head alone');
  socket.write(switchingResponse());
  t.equal((await client.response({ toHead: true })).status, 101);
  client.write(', and the rest');
  await eventually(() => upstream.received.endsWith('early bytes, more of them, and the rest'));
  t.pass('in their order');
});

const earlyBytes = 'early bytes never pass when the upstream refuses';
t.test(earlyBytes, async (t) => {
  const { statuses } = expected(earlyBytes, { statuses: [403, 400] });
  const { upstream, client, socket } = await asking(t, '\x81\x85frame');
  socket.write('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n');
  for (const status of statuses) t.equal((await client.response()).status, status, 'they are no request');
  t.equal(await client.closed, 'ended');
  t.notMatch(upstream.received, 'frame');
});

t.test('a flood of early bytes waits at the client', async (t) => {
  const { upstream, client, socket, gateway } = await asking(t);
  client.write(Buffer.alloc(8 * 1024 * 1024, 'x'));
  await sleep(300);
  t.ok(upstream.received.endsWith('\r\n\r\n'));
  socket.write(switchingResponse());
  await eventually(() => upstream.received.length > 8 * 1024 * 1024);
  client.reset();
  await eventually(() => gateway.logLines().some(({ status }) => status === 101));
});

t.test('bytes that the upstream sends with its 101 are not lost', async (t) => {
  const { client, socket } = await asking(t);
  socket.write(`${switchingResponse()}hello at once`);
  t.equal((await client.response({ toHead: true })).status, 101);
  await client.received('hello at once');
});

t.test('a 101 says what pages of other origins may read, as any response does', async (t) => {
  const origin = 'https://app.example';
  const cors = { cors: { origins: [origin], expose: ['X-Total'] } };
  const { client, socket } = await asking(t, '', [...webSocketLines, `Origin: ${origin}`], cors);
  socket.write(switchingResponse('websocket', 'Access-Control-Allow-Origin: *'));
  const { status, values } = await client.response({ toHead: true });
  t.equal(status, 101);
  t.same(values('access-control-allow-origin'), [origin]);
  t.match(values('access-control-expose-headers'), [/\bX-Total$/]);
  t.same(values('vary'), ['Origin']);
});

t.test('a 101 is cleaned as any response is', async (t) => {
  const { client, socket } = await asking(t);
  const lines = [
    'Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=',
    'X-Request-Id: of-the-upstream',
    'Set-Cookie: service_refresh_cookie=x',
    'Set-Cookie: other=y',
    'Keep-Alive: timeout=5',
    'Content-Length: 0',
  ];
  socket.write(switchingResponse('WebSocket', ...lines));
  const { rawHeaders, values } = await client.response({ toHead: true });
  t.same(values('sec-websocket-accept'), ['s3pPLMBiTxaQ9kYGzzhZRbK+xOo=']);
  t.same(values('set-cookie'), ['other=y']);
  t.same([values('connection'), values('upgrade')], [['Upgrade'], ['websocket']]);
  t.notMatch(rawHeaders.join(), /of-the-upstream|keep-alive|content-length/i);
  t.equal(values('x-request-id').length, 1);
});

const unasked: Record<string, string> = {
  'another protocol': switchingResponse('foo'),
  'more than one protocol': switchingResponse('websocket, foo'),
  h2c: switchingResponse('h2c'),
  'no protocol': 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n\r\n',
};
for (const [name, response] of Object.entries(unasked))
  t.test(`a 101 to ${name} is 502`, async (t) => {
    const { client, socket } = await asking(t);
    socket.write(response);
    t.match(await client.response(), { status: 502, json: { code: 'upstream_unavailable' } });
    await eventually(() => socket.destroyed);
  });

t.test('a 101 that nobody asked for is 502', async (t) => {
  const { client, socket } = await asking(t, '', ['Upgrade: h2c', 'Connection: Upgrade']);
  socket.write(`${switchingResponse('h2c')}PRI`);
  t.match(await client.response(), { status: 502 });
  await eventually(() => socket.destroyed);
});

t.test('a client that goes away before the response takes its upstream connection with it', async (t) => {
  const { gateway, client, socket } = await asking(t);
  client.end();
  await eventually(() => socket.destroyed);
  await eventually(() => gateway.logLines().some(({ outcome }) => outcome === 'client_aborted'));
  t.pass('and is in the log');
});
