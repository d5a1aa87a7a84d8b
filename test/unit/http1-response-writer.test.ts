import t from 'tap';
import { FieldBlock, UnwritableHead } from '../../src/http1/message/head-text.ts';
import { Output } from '../../src/http1/message/output.ts';
import { SocketResponseWriter } from '../../src/http1/server/response-writer.ts';
import { FakeSocket } from '../support/servers/fake-socket.ts';

const keep = new FieldBlock(['Connection', 'keep-alive', 'Keep-Alive', 'timeout=5']);
const kept = 'Connection: keep-alive\r\nKeep-Alive: timeout=5\r\n';
const date = ['Date', 'today'];

interface Row {
  readonly name: string;
  readonly minor?: 0 | 1;
  readonly isHead?: boolean;
  readonly closes?: boolean;
  readonly status?: number;
  readonly length: number;
  readonly body?: readonly string[];
  readonly trailers?: readonly string[];
  /** Between `Date` and the end of what is sent. */
  readonly sent: string;
  readonly endsConnection?: boolean;
  readonly cutShort?: boolean;
}

const rows: readonly Row[] = [
  { name: 'a known length', length: 2, body: ['ok'], sent: `Content-Length: 2\r\n${kept}\r\nok` },
  { name: 'in pieces', length: 2, body: ['o', 'k'], sent: `Content-Length: 2\r\n${kept}\r\nok` },
  { name: 'no body', length: 0, sent: `Content-Length: 0\r\n${kept}\r\n` },
  {
    name: 'an unknown length',
    length: -1,
    body: ['hello', 'you'],
    sent: `Transfer-Encoding: chunked\r\n${kept}\r\n5\r\nhello\r\n3\r\nyou\r\n0\r\n\r\n`,
  },
  {
    name: 'an unknown length, then no body',
    length: -1,
    sent: `Transfer-Encoding: chunked\r\n${kept}\r\n0\r\n\r\n`,
  },
  {
    name: 'trailers',
    length: -1,
    body: ['a'],
    trailers: ['X', 'y'],
    sent: `Transfer-Encoding: chunked\r\n${kept}\r\n1\r\na\r\n0\r\nX: y\r\n\r\n`,
  },
  {
    name: 'trailers that the framing does not allow',
    length: 1,
    body: ['a'],
    trailers: ['X', 'y'],
    sent: `Content-Length: 1\r\n${kept}\r\na`,
  },
  {
    name: 'an unknown length to HTTP/1.0',
    minor: 0,
    length: -1,
    body: ['a'],
    sent: 'Connection: close\r\n\r\na',
    endsConnection: true,
  },
  { name: 'HEAD', isHead: true, length: 2, body: ['ok'], sent: `Content-Length: 2\r\n${kept}\r\n` },
  { name: 'HEAD of unknown length', isHead: true, length: -1, body: ['ok'], sent: `${kept}\r\n` },
  { name: '204', status: 204, length: 0, body: ['ok'], sent: `${kept}\r\n` },
  { name: '304', status: 304, length: 2, body: ['ok'], sent: `Content-Length: 2\r\n${kept}\r\n` },
  {
    name: 'a connection that ends',
    closes: true,
    length: 0,
    sent: 'Content-Length: 0\r\nConnection: close\r\n\r\n',
    endsConnection: true,
  },
  {
    name: 'less than was announced',
    length: 3,
    body: ['ok'],
    sent: `Content-Length: 3\r\n${kept}\r\nok`,
    cutShort: true,
  },
];
for (const row of rows)
  for (const isPatient of [true, false])
    t.test(`${row.name}, ${isPatient ? 'head with the body' : 'head first'}`, async (t) => {
      const { status = 200, body = [], length, trailers } = row;
      const socket = new FakeSocket();
      const { minor = 1, isHead = false, closes = false } = row;
      const writer = new SocketResponseWriter(new Output(socket.asSocket), minor, isHead, closes, keep);
      writer.begin(status, ['A', 'b', ...date], length);
      t.equal(socket.sent, '', 'nothing is sent before there is a body');
      if (!isPatient) writer.flush();
      for (const piece of body.slice(0, -1)) writer.write(Buffer.from(piece));
      writer.end(body.length === 0 ? undefined : Buffer.from(body.at(-1)!), trailers);
      const reason = { 200: 'OK', 204: 'No Content', 304: 'Not Modified' }[status];
      t.equal(socket.sent, `HTTP/1.1 ${status} ${reason}\r\nA: b\r\nDate: today\r\n${row.sent}`);
      t.equal(writer.closes, row.endsConnection ?? false);
      t.equal(writer.cutShort, row.cutShort ?? false);
    });

function writerTo(socket: FakeSocket, minor = 1): SocketResponseWriter {
  return new SocketResponseWriter(new Output(socket.asSocket), minor, false, false, keep);
}

t.test('a response has one Date', async (t) => {
  const socket = new FakeSocket();
  const writer = writerTo(socket);
  writer.begin(200, [], 0);
  writer.end();
  t.match(socket.sent, /^HTTP\/1\.1 200 OK\r\nDate: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT\r\n/);
});

t.test('fields in a block follow the others', async (t) => {
  const socket = new FakeSocket();
  const writer = writerTo(socket);
  writer.begin(200, ['A', 'b', ...date], 0, new FieldBlock(['C', 'd', 'E', '']));
  writer.end();
  t.equal(
    socket.sent,
    `HTTP/1.1 200 OK\r\nA: b\r\nDate: today\r\nC: d\r\nE: \r\nContent-Length: 0\r\n${kept}\r\n`,
  );
});

t.test('a block that can not be written begins no response', async (t) => {
  const writer = writerTo(new FakeSocket());
  t.throws(() => writer.begin(200, [], 0, new FieldBlock(['C', 'd\n'])), UnwritableHead);
  t.notOk(writer.begun);
  writer.begin(500, [], 0);
});

t.test('a long body and its framing leave in one order', async (t) => {
  const socket = new FakeSocket();
  const writer = writerTo(socket);
  writer.begin(200, date, -1);
  const long = Buffer.alloc(40_000, 'a');
  writer.write(long);
  writer.end();
  t.equal(socket.sent.split('\r\n\r\n')[1], `9c40\r\n${long}\r\n0`);
});

t.test('interim responses are sent only to HTTP/1.1, before the final one', async (t) => {
  const socket = new FakeSocket();
  const writer = writerTo(socket);
  writer.sendInterim(103, ['Link', '</a>']);
  t.equal(socket.sent, 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n');
  writer.begin(200, date, 0);
  writer.sendInterim(103);
  writer.end();
  t.notMatch(socket.sent.slice(50), '103');
  const old = new FakeSocket();
  writerTo(old, 0).sendInterim(100);
  t.equal(old.sent, '');
});

t.test('a switch of protocols ends it', async (t) => {
  const socket = new FakeSocket();
  const writer = writerTo(socket);
  writer.switchProtocols(['Upgrade', 'x']);
  t.equal(socket.sent, 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n');
  t.match(writer, { status: 101, ended: true });
});

t.test('after a head that can’t be written another response can be sent', async (t) => {
  const socket = new FakeSocket();
  const writer = writerTo(socket);
  t.throws(() => writer.sendInterim(103, ['A', '\n']), UnwritableHead);
  t.throws(() => writer.switchProtocols(['A', '\n']), UnwritableHead);
  t.throws(() => writer.begin(200, ['A', 'b\r\nC: d'], -1), UnwritableHead);
  t.match(writer, { begun: false, ended: false, closes: false });
  writer.begin(500, date, 2);
  writer.end(Buffer.from('no'));
  const head = `HTTP/1.1 500 Internal Server Error\r\nDate: today\r\nContent-Length: 2\r\n${kept}\r\n`;
  t.equal(socket.sent, `${head}no`);
});

t.test('trailers that can’t be written stop a body before its end', async (t) => {
  const socket = new FakeSocket();
  const writer = writerTo(socket);
  writer.begin(200, date, -1);
  writer.write(Buffer.from('a'));
  t.throws(() => writer.end(Buffer.from('b'), ['X', '\r\n\r\nGET /']), UnwritableHead);
  t.match(socket.sent, /\r\n\r\n1\r\na\r\n$/);
  t.equal(writer.ended, false);
});
