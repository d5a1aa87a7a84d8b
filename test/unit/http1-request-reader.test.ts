import t from 'tap';
import { ConnectionClock, phase } from '../../src/http1/server/connection-clock.ts';
import { RequestReader } from '../../src/http1/server/request-reader.ts';
import { createTargetLimits } from '../../src/http1/server/target-limits.ts';
import { cuts, FakeSocket } from '../support/servers/fake-socket.ts';

const headerBytes = 256;
const hour = 3_600_000;
const limits = {
  headerTimeoutMs: hour,
  keepAliveTimeoutMs: hour,
  bodyIdleTimeoutMs: hour,
  bodyJudgedAfterMs: hour,
  writeIdleTimeoutMs: hour,
};

/** The events of a reader of those pieces: each request, its body, and the end. */
function read(pieces: Iterable<string>, maxHeadBytes = headerBytes): readonly string[] {
  const told: string[] = [];
  const { asSocket: socket } = new FakeSocket();
  const clock = new ConnectionClock(socket, limits);
  const targets = createTargetLimits(maxHeadBytes, { maxBytes: 0, has: () => false });
  const reader: RequestReader = new RequestReader(
    socket,
    clock,
    { headerBytes: maxHeadBytes, targets },
    {
      onRequest({ method, target, minor, fields }) {
        told.push([method, target, minor, ...fields].join(' '));
        clock.enter(phase.exchange);
        if (reader.body.done) clock.enter(phase.idle);
        else readBody();
      },
      onUnreadable: ({ code }) => end(code),
      onBodyBroken: ({ code }) => end(`broken: ${code}`),
      onDiscarded: () => told.push('discarded'),
      onTooMuchDiscarded: () => told.push('too much'),
    },
  );

  function readBody(): void {
    const body: string[] = [];
    reader.body.reader = {
      leastBytesPerSecond: 0,
      wholeTimeoutMs: hour,
      onBodyChunk: (chunk) => void body.push(chunk.toString('latin1')),
      onBodyEnd() {
        told.push(`body ${body.join('')}`);
        reader.forgetBody();
        clock.enter(phase.idle);
      },
      onBodyError() {},
    };
  }

  function end(code: string): void {
    told.push(code);
    clock.enter(phase.ending);
  }

  for (const piece of pieces) reader.push(Buffer.from(piece, 'latin1'));
  return told;
}

const host = 'Host: a\r\n\r\n';
const taken: readonly [string, string, string[]][] = [
  ['a request', `GET / HTTP/1.1\r\n${host}`, ['GET / 1 Host a']],
  ['of HTTP/1.0, without a field', 'GET / HTTP/1.0\r\n\r\n', ['GET / 0']],
  ['another method', `M-SEARCH * HTTP/1.1\r\n${host}`, ['M-SEARCH * 1 Host a']],
  ['a target, unchanged', `GET /a%2F../?b HTTP/1.1\r\n${host}`, ['GET /a%2F../?b 1 Host a']],
  ['an empty line before it', `\r\nGET / HTTP/1.1\r\n${host}`, ['GET / 1 Host a']],
  ['blanks around a value', 'GET / HTTP/1.1\r\nA:\t b c \t\r\nB:\r\n\r\n', ['GET / 1 A b c B ']],
  ['a colon in a value', 'GET / HTTP/1.1\r\nA::b:\r\n\r\n', ['GET / 1 A :b:']],
  ['bytes beyond ASCII in a value', 'GET / HTTP/1.1\r\nA: \xe9\xff\r\n\r\n', ['GET / 1 A \xe9\xff']],
  [
    'two in a row',
    `GET /1 HTTP/1.1\r\n${host}GET /2 HTTP/1.1\r\n${host}`,
    ['GET /1 1 Host a', 'GET /2 1 Host a'],
  ],
  [
    'a body, then another request',
    `POST /1 HTTP/1.1\r\nContent-Length: 4\r\n\r\nGET GET /2 HTTP/1.1\r\n${host}`,
    ['POST /1 1 Content-Length 4', 'body GET ', 'GET /2 1 Host a'],
  ],
  [
    'a body in chunks with trailers, then another request',
    `POST /1 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3;x\r\nllo\r\n0\r\nA: b\r\n\r\nGET /2 HTTP/1.1\r\n${host}`,
    ['POST /1 1 Transfer-Encoding chunked', 'body hello', 'GET /2 1 Host a'],
  ],
  [
    'a head as long as it may be',
    `GET / HTTP/1.1\r\nA: ${'a'.repeat(237)}\r\n\r\n`,
    [`GET / 1 A ${'a'.repeat(237)}`],
  ],
  ['half a head', 'GET / HTTP/1.1\r\nHost: a\r\n', []],
  ['nothing but an empty line', '\r\n', []],
];
for (const [name, wire, expected] of taken)
  for (const [how, pieces] of cuts(wire))
    t.test(`accepted: ${name}, ${how}`, async (t) => {
      t.strictSame(read(pieces), expected);
    });

const refused: readonly [string, string, string][] = [
  ['two spaces before the target', `GET  / HTTP/1.1\r\n${host}`, 'bad_request'],
  ['two spaces after it', `GET /  HTTP/1.1\r\n${host}`, 'bad_request'],
  ['a space at the end of the line', `GET / HTTP/1.1 \r\n${host}`, 'bad_request'],
  ['a space before the method', ` GET / HTTP/1.1\r\n${host}`, 'bad_request'],
  ['HTAB for a space', `GET\t/ HTTP/1.1\r\n${host}`, 'bad_request'],
  ['no version', `GET /\r\n${host}`, 'bad_request'],
  ['no target', `GET HTTP/1.1\r\n${host}`, 'bad_request'],
  ['a version in lower case', `GET / http/1.1\r\n${host}`, 'bad_request'],
  ['a version of two digits', `GET / HTTP/1.10\r\n${host}`, 'bad_request'],
  ['HTTP/2.0', `GET / HTTP/2.0\r\n${host}`, 'version_not_supported'],
  ['HTTP/1.2', `GET / HTTP/1.2\r\n${host}`, 'version_not_supported'],
  ['HTTP/0.9', `GET / HTTP/0.9\r\n${host}`, 'version_not_supported'],
  ['an unknown method', `BREW / HTTP/1.1\r\n${host}`, 'not_implemented'],
  ['a method in lower case', `get / HTTP/1.1\r\n${host}`, 'not_implemented'],
  ['a method that is no token', `G(T / HTTP/1.1\r\n${host}`, 'bad_request'],
  ['two empty lines before it', `\r\n\r\nGET / HTTP/1.1\r\n${host}`, 'bad_request'],
  ['lines that end with a bare LF', 'GET / HTTP/1.1\nHost: a\n\n', 'bad_request'],
  ['one line that does', 'GET / HTTP/1.1\r\nA: b\nHost: a\r\n\r\n', 'bad_request'],
  ['CR alone in a value', `GET / HTTP/1.1\r\nA: b\rc\r\n${host}`, 'bad_request'],
  ['NUL in a value', `GET / HTTP/1.1\r\nA: \x00\r\n${host}`, 'bad_request'],
  ['DEL in a target', `GET /\x7f HTTP/1.1\r\n${host}`, 'bad_request'],
  ['a folded line', `GET / HTTP/1.1\r\nA: b\r\n c\r\n${host}`, 'bad_request'],
  ['a folded first line', `GET / HTTP/1.1\r\n A: b\r\n${host}`, 'bad_request'],
  ['a blank before a colon', 'GET / HTTP/1.1\r\nHost : a\r\n\r\n', 'bad_request'],
  ['a field without a name', `GET / HTTP/1.1\r\n: a\r\n${host}`, 'bad_request'],
  ['a field without a colon', `GET / HTTP/1.1\r\nA\r\n${host}`, 'bad_request'],
  ['a name that is no token', `GET / HTTP/1.1\r\nA(: b\r\n${host}`, 'bad_request'],
  ['a name beyond ASCII', `GET / HTTP/1.1\r\n\xe9: b\r\n${host}`, 'bad_request'],
  ['a TLS client', '\x16\x03\x01', 'bad_request'],
  ['LF before anything', '\n', 'bad_request'],
  ['a head that is too long', `GET / HTTP/1.1\r\nA: ${'a'.repeat(238)}\r\n\r\n`, 'headers_too_large'],
  ['one that never ends', `GET / HTTP/1.1\r\nA: ${'a'.repeat(241)}`, 'headers_too_large'],
];
for (const [name, wire, code] of refused)
  for (const [how, pieces] of cuts(wire))
    t.test(`refused: ${name}, ${how}`, async (t) => {
      t.strictSame(read(pieces), [code]);
    });

for (const [how, pieces] of cuts(
  `POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nx\r\nGET / HTTP/1.1\r\n${host}`,
))
  t.test(`nothing is read after a body with malformed framing, ${how}`, async (t) => {
    t.strictSame(read(pieces), ['POST / 1 Transfer-Encoding chunked', 'broken: bad_request']);
  });

t.test('line ends in a head that arrives byte by byte cost no more than other bytes', async (t) => {
  const before = process.cpuUsage().user;
  t.strictSame(read(`GET / HTTP/1.1\r\n${'a\r\n'.repeat(8_000)}`, 100_000), []);
  t.ok(
    process.cpuUsage().user - before < 2_000_000,
    'searching for them from the start would take several seconds',
  );
});
