import type { Socket } from 'node:net';
import t from 'tap';
import { connectRaw } from '../support/clients/raw-client.ts';
import {
  type Expected,
  type FaultRow,
  judgeFaults,
  shortIdle,
  shortResponse,
} from '../support/corpora/fault-table.ts';
import { startForwarding } from '../support/gateway/forwarding.ts';
import { poolBecomes } from '../support/gateway/pool-gauges.ts';
import { startFaultyUpstream } from '../support/servers/faulty-upstream.ts';

/** Sends those bytes and leaves the connection open. */
const saying = (bytes: string, expected: Expected): FaultRow => ({
  expected,
  fault(socket, when) {
    if (when === 'asked') socket.write(bytes, 'latin1');
  },
});

/** Sends a byte every 20 ms, forever. */
function drip(text: string) {
  return (socket: Socket, when: string) => {
    if (when === 'accepted') return;
    let at = 0;
    const timer = setInterval(() => {
      socket.write(text.charAt(at) || 'x');
      at++;
    }, 20);
    socket.on('close', () => clearInterval(timer));
  };
}

t.test('the upstream is too slow with its head', (t) =>
  judgeFaults(t, {
    'it accepts and sends nothing': { fault: () => {}, expected: 504 },
    'its head arrives byte by byte and never ends': {
      fault: drip('HTTP/1.1 200 OK\r\nX-Slow: '),
      expected: 504,
    },
    'it sends only interim responses': saying('HTTP/1.1 102 Processing\r\n\r\n'.repeat(8), 504),
    'it stops within its head': saying('HTTP/1.1 200 OK\r\nContent-Le', 504),
  }),
);

t.test('the upstream is too slow with its body', (t) =>
  judgeFaults(
    t,
    {
      'it stops after its head': saying('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n', 'reset'),
      'it stops within a body with a length': saying(
        'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel',
        'reset',
      ),
      'it stops between chunks': saying(
        'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n',
        'reset',
      ),
      'it stops within a body that would end with the connection': saying(
        'HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhel',
        'reset',
      ),
    },
    shortIdle,
  ),
);

/** A gateway with a single connection to that upstream. */
const inFrontOf = (t: Parameters<typeof startForwarding>[0], url: string) =>
  startForwarding(t, { upstreams: { app: { url, max_connections: 1, max_waiting: 1, ...shortResponse } } });

t.test('502 while nothing listens, and service resumes once something does', async (t) => {
  const upstream = await startFaultyUpstream(t);
  const gateway = await inFrontOf(t, upstream.url);
  await upstream.close();
  for (const [line, ...more] of [['GET /api/store/x HTTP/1.1'], ['POST /api/store/x HTTP/1.1', 'hello']]) {
    const connection = await connectRaw(gateway.port);
    connection.write(gateway.raw(line!, more.length > 0 ? ['Content-Length: 5'] : [], more[0]));
    const response = await connection.response();
    t.equal(response.status, 502);
    t.equal(response.json.code, 'upstream_unavailable');
    t.notOk(response.text.includes(String(upstream.port)));
    connection.reset();
    await poolBecomes(gateway.managementPort, ({ open, waiting }) => open === 0 && waiting === 0);
  }
  await upstream.reopen();
  t.ok(await gateway.stillServes());
});

t.test('the upstream stops reading an upload: 504, and its slot in the pool is free', async (t) => {
  const upstream = await startFaultyUpstream(t);
  upstream.fault = (socket, when) => when === 'accepted' && socket.pause();
  const gateway = await inFrontOf(t, upstream.url);
  const connection = await connectRaw(gateway.port);
  connection.write(gateway.raw('PUT /api/store/x HTTP/1.1', [`Content-Length: ${64 * 2 ** 20}`]));
  connection.write(Buffer.alloc(64 * 2 ** 20));
  const response = await connection.response();
  t.equal(response.status, 504);
  t.same(response.values('connection'), ['close'], 'the rest of the body is never read as a request');
  upstream.fault = null;
  t.ok(await gateway.stillServes());
  await poolBecomes(gateway.managementPort, ({ open, waiting }) => open === 1 && waiting === 0);
});
