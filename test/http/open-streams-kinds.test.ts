import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { connectRaw } from '../support/clients/raw-client.ts';
import { expected } from '../support/corpora/engine-differences.ts';
import { judgeElapsed } from '../support/elapsed.ts';
import { eventually, startForwarding } from '../support/gateway/forwarding.ts';
import { startRawUpstream } from '../support/servers/raw-upstream.ts';
import { switchingResponse } from '../support/servers/upgrades.ts';
import { webSocketLines } from '../support/servers/web-sockets.ts';

/** A request in flight: how it is asked for and how far it has come when its credential ends. */
interface Kind {
  readonly requestLine: string;
  readonly lines?: readonly string[];
  readonly body?: string;
  /** What the upstream has answered; nothing when it is absent. */
  readonly response?: string;
  /** What the client has seen by then. */
  readonly sees?: string;
}

const megabyte = 'x'.repeat(1024 * 1024);

const kinds: Record<string, Kind> = {
  'an event stream': {
    requestLine: 'GET /api/store/events HTTP/1.1',
    response: 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n',
    sees: 'data: 1',
  },
  'a download in chunks': {
    requestLine: 'GET /api/store/file HTTP/1.1',
    response: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nbegin\r\n',
    sees: 'begin',
  },
  'a download of known length': {
    requestLine: 'GET /api/store/file HTTP/1.1',
    response: `HTTP/1.1 200 OK\r\nContent-Length: 9000000\r\n\r\n${megabyte}`,
    sees: 'xxx',
  },
  'a download by HTTP/1.0': {
    requestLine: 'GET /api/store/file HTTP/1.0',
    response: 'HTTP/1.1 200 OK\r\n\r\nbegin',
    sees: 'begin',
  },
  'a head alone': {
    requestLine: 'GET /api/store/slow HTTP/1.1',
    response: 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n',
    sees: '200 OK',
  },
  'a request without an answer yet': { requestLine: 'GET /api/store/slow HTTP/1.1' },
  'an upload': {
    requestLine: 'POST /api/store/file HTTP/1.1',
    lines: ['Content-Length: 100'],
    body: 'the beginning',
  },
  'an upload that is being answered': {
    requestLine: 'POST /api/store/file HTTP/1.1',
    lines: ['Transfer-Encoding: chunked'],
    body: '5\r\nbegin\r\n',
    response: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nbegin\r\n',
    sees: 'begin',
  },
  'a WebSocket': {
    requestLine: 'GET /api/store/live HTTP/1.1',
    lines: webSocketLines,
    response: `${switchingResponse()}\x81\x05hello`,
    sees: 'hello',
  },
  'a WebSocket within a frame': {
    requestLine: 'GET /api/store/live HTTP/1.1',
    lines: webSocketLines,
    response: `${switchingResponse()}\x81\x06hello`,
    sees: 'hello',
  },
  'a WebSocket that was not agreed to yet': {
    requestLine: 'GET /api/store/live HTTP/1.1',
    lines: webSocketLines,
  },
};

for (const [name, { requestLine, lines, body = '', response, sees }] of Object.entries(kinds))
  t.test(`${name} ends on both sides with its key, and never looks whole`, async (t) => {
    const { received } = expected(name, { received: body });
    const upstream = await startRawUpstream(t, ({ socket }) => {
      if (response !== undefined) socket.write(Buffer.from(response, 'latin1'));
    });
    const gateway = await startForwarding(t, { upstreams: { app: { url: upstream.url } } });
    const client = await connectRaw(gateway.port);
    client.write(gateway.raw(requestLine, lines, body));
    if (sees !== undefined) await client.received(sees);
    await eventually(() => upstream.received.includes('\r\n\r\n') && upstream.received.endsWith(received));
    const deleted = await gateway.api.send({
      method: 'DELETE',
      path: `/api/admin/api-keys/${gateway.keyId}`,
      bearer: gateway.bearer,
    });
    t.equal(deleted.status, 204);
    const sinceMs = performance.now();
    await client.closed;
    await eventually(() => upstream.open === 0);
    judgeElapsed(t, sinceMs, 1_000);
    const seen = await client.response().catch(() => undefined);
    if (sees === undefined) t.equal(seen, undefined, 'there is no response');
    else if (seen!.status !== 101) t.notOk(seen!.isWhole && requestLine.endsWith('1.1'));
    const line = () => gateway.logLines().find(({ outcome }) => outcome === 'credential_ended');
    await eventually(() => line() !== undefined);
    t.equal(line()?.key, gateway.keyId);
  });

t.test('a request that waits for a connection to its upstream ends as well', async (t) => {
  const upstream = await startRawUpstream(t, () => {});
  const app = { url: upstream.url, max_connections: 1 };
  const gateway = await startForwarding(t, { upstreams: { app }, shutdown: { timeout: '50ms' } });
  const { key } = await gateway.api.mintKey(gateway.bearer, { label: 'other', scopes: ['store:read'] });
  const first = await connectRaw(gateway.port);
  first.write(['GET /api/store/a HTTP/1.1', 'Host: a', `X-API-Key: ${key}`, '', ''].join('\r\n'));
  await eventually(() => upstream.received !== '');
  const second = await connectRaw(gateway.port);
  second.write(gateway.raw('GET /api/store/b HTTP/1.1'));
  await sleep(50);
  const path = `/api/admin/api-keys/${gateway.keyId}`;
  await gateway.api.send({ method: 'DELETE', path, bearer: gateway.bearer });
  t.equal(await second.closed, 'reset');
  t.notMatch(upstream.received, '/api/store/b');
  t.equal(upstream.open, 1, 'the other key keeps its own');
});
