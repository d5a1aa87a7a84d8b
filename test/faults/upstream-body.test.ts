import t from 'tap';
import { type Expected, type FaultRow, judgeFaults } from '../support/corpora/fault-table.ts';

/** Sends the pieces one after the other, each in its own packet, and leaves the connection open. */
const saying = (pieces: readonly string[], expected: Expected, methods?: readonly string[]): FaultRow => ({
  expected,
  methods,
  isTainted: typeof expected === 'object',
  fault(socket, when) {
    if (when === 'accepted') return;
    pieces.forEach((piece, index) => void setTimeout(() => socket.write(piece, 'latin1'), 10 * index));
  },
});

const chunkedHead = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
const chunks = (body: string) => saying([chunkedHead, body], 'reset');
const evil = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil';
const hello = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello';

t.test('the upstream’s chunks are no chunks', (t) =>
  judgeFaults(t, {
    'a size is no number': chunks('5\r\nhello\r\nxyz\r\n'),
    'a size is empty': chunks('5\r\nhello\r\n\r\n0\r\n\r\n'),
    'a size has a sign': chunks('+5\r\nhello\r\n0\r\n\r\n'),
    'a size has a prefix': chunks('0x5\r\nhello\r\n0\r\n\r\n'),
    'a size is followed by a blank': chunks('5 \r\nhello\r\n0\r\n\r\n'),
    'a size is beyond all numbers': chunks(`${'f'.repeat(20)}\r\nhello\r\n`),
    'a chunk is longer than its size': chunks('4\r\nhello\r\n0\r\n\r\n'),
    'a chunk is shorter than its size': chunks('6\r\nhello\r\n0\r\n\r\n'),
    'a size ends with a bare LF': chunks('5\nhello\r\n0\r\n\r\n'),
    'a chunk ends with a bare LF': chunks('5\r\nhello\n0\r\n\r\n'),
    'an extension has no end': chunks(`5;${'x'.repeat(4096)}`),
    'a trailer has no colon': chunks('5\r\nhello\r\n0\r\nevil\r\n\r\n'),
    'the trailers have no end': chunks(`5\r\nhello\r\n0\r\n${'X-Many: a\r\n'.repeat(8000)}`),
    'the first chunk is malformed and arrives with the head': saying([`${chunkedHead}xyz\r\nhello`], 'reset'),
  }),
);

t.test('bytes after the end of a response are not taken for another response', (t) =>
  judgeFaults(t, {
    'in the packet of a body with a length': saying([`${hello}more`], { whole: 'hello' }),
    'after a body with a length': saying([hello, 'more'], { whole: 'hello' }),
    'a complete second response in the same packet': saying([hello + evil], { whole: 'hello' }),
    'a complete second response in the next packet': saying([hello, evil], { whole: 'hello' }),
    'after the last chunk': saying([`${chunkedHead}5\r\nhello\r\n0\r\n\r\n${evil}`], { whole: 'hello' }),
    'after 204': saying([`HTTP/1.1 204 No Content\r\n\r\n${evil}`], { whole: '' }),
    'after a 204 that announces a body': saying(
      [`HTTP/1.1 204 No Content\r\nContent-Length: ${evil.length}\r\n\r\n${evil}`],
      { whole: '' },
    ),
    'after 204 in chunks': saying(
      ['HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nevil\r\n0\r\n\r\n'],
      { whole: '' },
    ),
    'after 304': saying([`HTTP/1.1 304 Not Modified\r\nContent-Length: 4\r\n\r\nevil`], { whole: '' }),
    'after the response to HEAD': saying(
      [`HTTP/1.1 200 OK\r\nContent-Length: ${evil.length}\r\n\r\n${evil}`],
      { whole: '' },
      ['HEAD'],
    ),
    'after the response to HEAD, in the next packet': saying(
      ['HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n', 'evil'],
      { whole: '' },
      ['HEAD'],
    ),
  }),
);
