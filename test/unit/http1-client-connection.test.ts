import t from 'tap';
import { UpstreamConnection } from '../../src/http1/client/client-connection.ts';
import type { UpstreamRequest } from '../../src/http1/client/client-request.ts';
import { headText } from '../../src/http1/message/head-text.ts';
import { cuts, FakeSocket } from '../support/servers/fake-socket.ts';
import { givenSocket } from '../support/servers/given-socket.ts';

/** A request that records its events, the body in one piece. */
class NotedRequest implements UpstreamRequest {
  connection: UpstreamRequest['connection'] = null;
  waitingSince = 0;
  takenAt = 0;
  readonly target = '/';
  readonly fields = ['Host', 'a'];
  readonly headText = headText('GET / HTTP/1.1', this.fields);
  readonly chunked: boolean;
  readonly hasBody: boolean;
  readonly isUploading = false;
  readonly connectTimeoutMs = 1_000;
  readonly responseTimeoutMs = 2_000;
  readonly idleTimeoutMs = 3_000;
  readonly upgrade: string | null;
  readonly method: string;
  readonly told: string[] = [];
  #body = '';

  constructor({ method = 'GET', body = '', upgrade = null as string | null } = {}) {
    this.method = method;
    this.hasBody = body !== '';
    this.chunked = body === 'chunked';
    this.upgrade = upgrade;
  }

  onSent(): void {}
  onDrain(): void {}
  onInterim(status: number, fields: string[]): void {
    this.told.push(`interim ${[status, ...fields].join(' ')}`);
  }
  onHead(status: number, fields: string[], length: number): void {
    this.told.push(`${[status, ...fields].join(' ')} (${length})`);
  }
  onData(chunk: Buffer): void {
    this.#body += chunk.toString('latin1');
  }
  onCaughtUp(): void {}
  onEnd(trailers: string[]): void {
    this.told.push(['end', this.#body, ...trailers].join(' '));
  }
  onSwitch(fields: string[], _socket: unknown, bytes: Buffer): void {
    this.told.push(`switch ${fields.join(' ')} ${bytes.toString('latin1')}`);
  }
  onError(error: { readonly kind: string; readonly diedIdle: boolean }): void {
    this.told.push(error.diedIdle ? `${error.kind}, idle` : error.kind);
  }
}

function open() {
  const socket = new FakeSocket();
  const onGone = () => void owner.gone++;
  const owner = { free: 0, gone: 0, onFree: () => void owner.free++, onGone, onSwitched: onGone };
  const connection = new UpstreamConnection(givenSocket(socket.asSocket), owner, 1_000);
  return { socket, owner, connection };
}

interface Row {
  readonly name: string;
  readonly wire: string;
  readonly asked?: ConstructorParameters<typeof NotedRequest>[0];
  /** The upstream ends its side after it. */
  readonly ends?: boolean;
  readonly told: readonly string[];
  readonly after: 'free' | 'gone' | 'busy';
}

const ok = 'HTTP/1.1 200 OK\r\n';
const rows: readonly Row[] = [
  {
    name: 'a body of some length',
    wire: `${ok}Content-Length: 2\r\n\r\nok`,
    told: ['200 Content-Length 2 (2)', 'end ok'],
    after: 'free',
  },
  {
    name: 'no reason',
    wire: 'HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n',
    told: ['200 Content-Length 0 (0)', 'end '],
    after: 'free',
  },
  {
    name: 'chunks and trailers',
    wire: `${ok}Transfer-Encoding: chunked\r\n\r\n1\r\no\r\n1\r\nk\r\n0\r\nA: b\r\n\r\n`,
    told: ['200 Transfer-Encoding chunked (-1)', 'end ok A b'],
    after: 'free',
  },
  { name: 'until the end', wire: `${ok}\r\nok`, ends: true, told: ['200 (-1)', 'end ok'], after: 'gone' },
  { name: 'until an end that is not here', wire: `${ok}\r\nok`, told: ['200 (-1)'], after: 'busy' },
  { name: '204', wire: 'HTTP/1.1 204 No Content\r\n\r\n', told: ['204 (-1)', 'end '], after: 'free' },
  {
    name: 'HEAD',
    asked: { method: 'HEAD' },
    wire: `${ok}Content-Length: 2\r\n\r\n`,
    told: ['200 Content-Length 2 (2)', 'end '],
    after: 'gone',
  },
  {
    name: 'an interim response first',
    wire: `HTTP/1.1 103 x\r\nA: b\r\n\r\n${ok}Content-Length: 0\r\n\r\n`,
    told: ['interim 103 A b', '200 Content-Length 0 (0)', 'end '],
    after: 'free',
  },
  {
    name: 'close',
    wire: `${ok}Connection: close\r\nContent-Length: 0\r\n\r\n`,
    told: ['200 Connection close Content-Length 0 (0)', 'end '],
    after: 'gone',
  },
  {
    name: 'bytes after it',
    wire: `${ok}Content-Length: 0\r\n\r\nHTTP/1.1 200 OK`,
    told: ['200 Content-Length 0 (0)', 'end '],
    after: 'gone',
  },
  { name: 'an end before a head', wire: ok, ends: true, told: ['reset'], after: 'gone' },
  {
    name: 'an end within a body',
    wire: `${ok}Content-Length: 2\r\n\r\no`,
    ends: true,
    told: ['200 Content-Length 2 (2)', 'reset'],
    after: 'gone',
  },
  {
    name: 'an end within chunks',
    wire: `${ok}Transfer-Encoding: chunked\r\n\r\n1\r\no\r\n`,
    ends: true,
    told: ['200 Transfer-Encoding chunked (-1)', 'reset'],
    after: 'gone',
  },
  {
    name: 'the requested protocol',
    asked: { upgrade: 'x' },
    wire: 'HTTP/1.1 101 x\r\nUpgrade: X\r\n\r\n',
    told: ['switch Upgrade X '],
    after: 'gone',
  },
  {
    name: 'another protocol',
    asked: { upgrade: 'x' },
    wire: 'HTTP/1.1 101 x\r\nUpgrade: y\r\n\r\n',
    told: ['malformed'],
    after: 'gone',
  },
  {
    name: 'a protocol that was not requested',
    wire: 'HTTP/1.1 101 x\r\nUpgrade: x\r\n\r\n',
    told: ['malformed'],
    after: 'gone',
  },
  {
    name: 'an interim response with a body',
    wire: 'HTTP/1.1 103 x\r\nContent-Length: 1\r\n\r\n',
    told: ['malformed'],
    after: 'gone',
  },
  {
    name: 'interim responses without end',
    wire: 'HTTP/1.1 102 x\r\n\r\n'.repeat(33),
    told: [...Array<string>(32).fill('interim 102'), 'malformed'],
    after: 'gone',
  },
  { name: 'a head without end', wire: `${ok}A: ${'a'.repeat(65_536)}`, told: ['malformed'], after: 'gone' },
  {
    name: 'malformed chunks',
    wire: `${ok}Transfer-Encoding: chunked\r\n\r\nx\r\n`,
    told: ['200 Transfer-Encoding chunked (-1)', 'malformed'],
    after: 'gone',
  },
];
/** Cut within the end of a head. */
function inTwo(wire: string): ReturnType<typeof cuts> {
  return [
    ['at once', [wire]],
    ['in two', [wire.slice(0, -2), wire.slice(-2)]],
  ];
}

const longest = 'a'.repeat(65_536 - ok.length - 'A: '.length);
const heads: readonly [string, string][] = [
  ['HTTP/2.0', 'HTTP/2.0 200 OK\r\n\r\n'],
  ['a version in lower case', 'http/1.1 200 OK\r\n\r\n'],
  ['two digits', 'HTTP/1.1 20 OK\r\n\r\n'],
  ['four digits', 'HTTP/1.1 2000 OK\r\n\r\n'],
  ['a status below 100', 'HTTP/1.1 099 OK\r\n\r\n'],
  ['a status with a sign', 'HTTP/1.1 +20 OK\r\n\r\n'],
  ['LF alone', 'HTTP/1.1 200 OK\nA: b\r\n\r\n'],
  ['a folded line', `${ok}A: b\r\n c\r\n\r\n`],
  ['a blank before a colon', `${ok}A : b\r\n\r\n`],
  ['NUL', `${ok}A: \x00\r\n\r\n`],
  ['length and coding', `${ok}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n`],
];
const long: readonly Row[] = [
  {
    name: 'a head as long as it may be',
    wire: `${ok}A: ${longest}\r\n\r\n`,
    told: [`200 A ${longest} (-1)`],
    after: 'busy',
  },
  {
    name: 'a head that is longer',
    wire: `${ok}A: ${longest}a\r\n\r\n`,
    told: ['malformed'],
    after: 'gone',
  },
];
const malformed = heads.map(([name, wire]): Row => ({ name, wire, told: ['malformed'], after: 'gone' }));

for (const { name, wire, asked, ends = false, told, after } of [...rows, ...long, ...malformed])
  for (const [how, pieces] of wire.length > 10_000 ? inTwo(wire) : cuts(wire))
    t.test(`${name}, ${how}`, async (t) => {
      const { socket, owner, connection } = open();
      const request = new NotedRequest(asked);
      connection.send(request);
      t.equal(socket.sent, '', 'nothing is sent before there is a connection');
      socket.emit('connect');
      t.equal(socket.sent, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n');
      for (const piece of pieces) socket.receive(piece);
      if (ends) socket.emit('end');
      t.strictSame(request.told, told);
      t.strictSame(
        [owner.free > 0 && owner.gone === 0, owner.gone],
        [after === 'free', after === 'gone' ? 1 : 0],
      );
    });

t.test('bytes that arrive before a request close the connection', async (t) => {
  const { socket, owner } = open();
  socket.emit('connect');
  socket.receive('H');
  t.equal(owner.gone, 1);
});

t.test('a connection that dies between two responses is reported as diedIdle', async (t) => {
  const { socket, connection } = open();
  socket.emit('connect');
  connection.send(new NotedRequest());
  socket.receive(`${ok}Content-Length: 0\r\n\r\n`);
  const lost = new NotedRequest();
  connection.send(lost);
  socket.emit('error', new Error('ECONNRESET'));
  t.strictSame(lost.told, ['reset, idle']);
});

t.test(
  'a body is sent in the framing of its head, and the connection is busy until it has ended',
  async (t) => {
    for (const [body, sent] of [
      ['chunked', '2\r\nok\r\n0\r\n\r\n'],
      ['plain', 'ok'],
    ] as const) {
      const { socket, owner, connection } = open();
      socket.emit('connect');
      const request = new NotedRequest({ body });
      connection.send(request);
      await new Promise(setImmediate);
      const head = socket.sent.length;
      connection.write(Buffer.from('ok'));
      connection.endBody();
      t.equal(socket.sent.slice(head), sent);
      socket.receive(`${ok}Content-Length: 0\r\n\r\n`);
      t.equal(owner.free, 1);
    }
    const { socket, owner, connection } = open();
    socket.emit('connect');
    connection.send(new NotedRequest({ body: 'plain' }));
    socket.receive(`${ok}Content-Length: 0\r\n\r\n`);
    t.strictSame([owner.free, owner.gone], [0, 1], 'a response before the end of the body');
  },
);

t.test('each part of a response has its own timeout', async (t) => {
  // Everything below begins after this instant and before the check, however busy the machine is.
  const startedMs = performance.now();
  const before = (ms: number) => startedMs + ms - 100;
  const after = (ms: number) => performance.now() + ms + 100;
  const { socket, connection } = open();
  const request = new NotedRequest();
  connection.send(request);
  connection.checkTime(before(1_000));
  t.strictSame(request.told, []);
  connection.checkTime(after(1_000));
  t.strictSame(request.told, ['connect_timeout']);
  t.ok(socket.destroyed);

  const waiting = open();
  const second = new NotedRequest();
  waiting.connection.send(second);
  waiting.socket.emit('connect');
  waiting.connection.checkTime(before(2_000));
  t.strictSame(second.told, []);
  waiting.connection.checkTime(after(2_000));
  t.strictSame(second.told, ['response_timeout']);

  const resting = open();
  const third = new NotedRequest();
  resting.connection.send(third);
  resting.socket.emit('connect');
  resting.socket.receive(`${ok}\r\n`);
  resting.connection.checkTime(before(3_000));
  t.strictSame(third.told, ['200 (-1)']);
  resting.connection.checkTime(after(3_000));
  t.strictSame(third.told, ['200 (-1)', 'idle_timeout']);
});

t.test('bytes that are read before the head of a request has been sent are no response to it', async (t) => {
  const { socket, owner, connection } = open();
  const [first, second] = [new NotedRequest(), new NotedRequest()];
  connection.send(first);
  socket.emit('connect');
  socket.receive(`${ok}Content-Length: 0\r\n\r\n`);
  connection.send(second);
  socket.receiveInTurn(`${ok}Content-Length: 7\r\n\r\nplanted`);
  t.strictSame(second.told, ['reset, idle'], 'it may go to another connection');
  t.equal(owner.gone, 1);
  t.equal(socket.destroyed, true);
});
