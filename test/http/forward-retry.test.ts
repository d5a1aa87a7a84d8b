import type { Socket } from 'node:net';
import t from 'tap';
import { exchangeRaw } from '../support/clients/raw-client.ts';
import { startForwarding } from '../support/gateway/forwarding.ts';
import { plainResponse, startRawUpstream } from '../support/servers/raw-upstream.ts';

/** Leaves a used connection in the pool, then sends the request, whose fate on that connection is `die`. */
async function onUsedConnection(
  t: Parameters<typeof startForwarding>[0],
  request: { readonly line: string; readonly lines?: string[]; readonly body?: string },
  die: (socket: Socket) => void,
  thenToo = false,
) {
  const upstream = await startRawUpstream(t, ({ socket, index, text }) => {
    if (text.startsWith('GET /api/store/first') || (index === 0 && !thenToo))
      socket.write(plainResponse('fine'));
    else die(socket);
  });
  const gateway = await startForwarding(t, { upstreams: { app: { url: upstream.url, max_connections: 1 } } });
  const ask = async (line: string, lines: string[] = [], body = '') =>
    (await exchangeRaw(gateway.port, gateway.raw(line, ['Connection: close', ...lines], body))).responses[0];
  await ask('GET /api/store/first HTTP/1.1');
  const response = await ask(request.line, request.lines, request.body);
  return { response, accepted: upstream.accepted };
}

const reset = (socket: Socket) => socket.resetAndDestroy();
const end = (socket: Socket) => socket.end();

t.test('a GET on a used connection that died before the first byte of its response is retried', async (t) => {
  for (const method of ['GET', 'HEAD', 'OPTIONS'])
    for (const die of [reset, end]) {
      const line = `${method} /api/store/x HTTP/1.1`;
      const { response, accepted } = await onUsedConnection(t, { line }, die);
      t.equal(response?.status, 200, `${method}, ${die.name}`);
      t.equal(accepted, 2);
    }
});

t.test('nothing else is', async (t) => {
  const get = { line: 'GET /api/store/x HTTP/1.1' };
  await t.test('a write', async (t) => {
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'PROPFIND']) {
      const { response, accepted } = await onUsedConnection(
        t,
        { line: `${method} /api/store/x HTTP/1.1` },
        reset,
      );
      t.equal(response?.status, 502, method);
      t.equal(accepted, 1);
    }
  });
  await t.test('a read with a body', async (t) => {
    const request = { ...get, lines: ['Content-Length: 1'], body: 'x' };
    const { response, accepted } = await onUsedConnection(t, request, reset);
    t.match(response, { status: 502 });
    t.equal(accepted, 1);
  });
  await t.test('a GET whose response had begun', async (t) => {
    const { response, accepted } = await onUsedConnection(t, get, (socket) => socket.end('H'));
    t.match(response, { status: 502 });
    t.equal(accepted, 1);
  });
  await t.test('a read that fails a second time', async (t) => {
    const { response, accepted } = await onUsedConnection(t, get, reset, true);
    t.match(response, { status: 502 });
    t.equal(accepted, 2);
  });
});

t.test('a connection is not used when the upstream may have closed it', async (t) => {
  const upstream = await startRawUpstream(t, ({ socket, index }) => {
    if (index > 0) socket.resetAndDestroy();
    else socket.write(plainResponse('fine', 'Keep-Alive: timeout=1'));
  });
  const gateway = await startForwarding(t, { upstreams: { app: { url: upstream.url } } });
  for (let i = 0; i < 3; i++) {
    const response = await gateway.api.send({ method: 'POST', path: '/api/store/x', apiKey: gateway.key });
    t.equal(response.status, 200);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
});

t.test('connections are used again, and one that speaks unasked is dropped', async (t) => {
  const upstream = await startRawUpstream(t, ({ socket, text }) => {
    socket.write(plainResponse('fine') + (text.includes('/more') ? plainResponse('poison') : ''));
    if (text.includes('/later')) setTimeout(() => socket.write(plainResponse('poison')), 20);
  });
  const gateway = await startForwarding(t, { upstreams: { app: { url: upstream.url } } });
  const get = (path: string) => gateway.api.send({ path, apiKey: gateway.key });
  for (let i = 0; i < 5; i++) t.equal((await get('/api/store/x')).text, 'fine');
  let connections = 1;
  t.equal(upstream.accepted, connections);
  for (const path of ['/api/store/more', '/api/store/later']) {
    t.equal((await get(path)).text, 'fine');
    await new Promise((resolve) => setTimeout(resolve, 50));
    t.equal((await get('/api/store/x')).text, 'fine', 'no response goes to another request');
    connections++;
    t.equal(upstream.accepted, connections);
  }
});
