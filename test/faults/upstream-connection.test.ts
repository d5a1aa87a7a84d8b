import type { Socket } from 'node:net';
import t from 'tap';
import { type FaultRow, judgeFaults } from '../support/corpora/fault-table.ts';

/** Ends the connection with FIN or RST after sending those bytes. */
const ending = (how: 'FIN' | 'RST', said: string) => (socket: Socket, when: string) => {
  if (when === 'accepted') return;
  if (how === 'FIN') {
    socket.end(said, 'latin1');
    return;
  }
  socket.write(said, 'latin1', () => setTimeout(() => socket.resetAndDestroy(), 10));
};

const head = 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n';
const stages: readonly (readonly [string, string, FaultRow['expected']])[] = [
  ['before its first byte', '', 502],
  ['within the status line', 'HTTP/1.1 20', 502],
  ['within a header', 'HTTP/1.1 200 OK\r\nContent-Len', 502],
  ['before the empty line', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n', 502],
  ['after an interim response', 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n', 502],
  ['after a head with a length', `${head}Content-Length: 10\r\n\r\n`, 'reset'],
  ['a byte before the length is full', `${head}Content-Length: 10\r\n\r\n123456789`, 'reset'],
  ['after a head with chunks', `${head}Transfer-Encoding: chunked\r\n\r\n`, 'reset'],
  ['within the size of a chunk', `${head}Transfer-Encoding: chunked\r\n\r\n1`, 'reset'],
  ['within a chunk', `${head}Transfer-Encoding: chunked\r\n\r\n5\r\nhel`, 'reset'],
  ['between two chunks', `${head}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n`, 'reset'],
  [
    'before the end of the last chunk',
    `${head}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n`,
    'reset',
  ],
  [
    'within the trailers',
    `${head}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX-Trailer: a\r\n`,
    'reset',
  ],
];

const rows: Record<string, FaultRow> = {
  'the upstream ends every connection as soon as it is made': {
    fault: (socket) => socket.destroy(),
    expected: 502,
    isRetried: true,
  },
  'the upstream resets every connection as soon as it is made': {
    fault: (socket) => socket.resetAndDestroy(),
    expected: 502,
    isRetried: true,
  },
  'the connection is reset during a body that would end with it': {
    fault: ending('RST', `${head}Connection: close\r\n\r\nhel`),
    expected: 'reset',
  },
};
for (const [stage, said, expected] of stages)
  for (const how of ['FIN', 'RST'] as const)
    rows[`${how} ${stage}`] = { fault: ending(how, said), expected, isRetried: said === '' };

t.test('the connection to the upstream ends', (t) => judgeFaults(t, rows));
