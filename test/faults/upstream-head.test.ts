import { randomBytes } from 'node:crypto';
import t from 'tap';
import { type Expected, type FaultRow, judgeFaults } from '../support/corpora/fault-table.ts';

/** Sends those bytes and leaves the connection open. */
const saying = (bytes: string, expected: Expected = 502): FaultRow => ({
  expected,
  fault(socket, when) {
    if (when === 'asked') socket.write(bytes, 'latin1');
  },
});

const withField = (field: string, expected?: Expected) =>
  saying(`HTTP/1.1 200 OK\r\nContent-Length: 2\r\n${field}\r\n\r\nok`, expected);

const framed = (fields: string, body: string, expected?: Expected) =>
  saying(`HTTP/1.1 200 OK\r\n${fields}\r\n\r\n${body}`, expected);

const interim = (count: number) => 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(count);
const good = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

t.test('the upstream sends a malformed head', (t) =>
  judgeFaults(t, {
    'it speaks another protocol': saying('220 mail.example ESMTP\r\n\r\n'),
    'it sends random bytes': {
      expected: 502,
      fault: (socket, when) =>
        when === 'asked' && socket.write(Buffer.concat([randomBytes(1000), Buffer.from('\r\n\r\n')])),
    },
    'it responds in HTTP/0.9': saying('<html>hello</html>\r\n\r\n'),
    'it responds in HTTP/2': saying('\0\0\x12\x04\0\0\0\0\0\0\x03\0\0\0\x64\r\n\r\n'),
    'its version is unknown': saying('HTTP/1.2 200 OK\r\nContent-Length: 0\r\n\r\n'),
    'its status has two digits': saying('HTTP/1.1 20 OK\r\nContent-Length: 0\r\n\r\n'),
    'its status has four digits': saying('HTTP/1.1 2000 OK\r\nContent-Length: 0\r\n\r\n'),
    'its status is below 100': saying('HTTP/1.1 099 Odd\r\nContent-Length: 0\r\n\r\n'),
    'an empty line precedes its status line': saying(`\r\n${good}`),
    'a name is followed by a blank': withField('X-Odd : a'),
    'a line is folded': withField('X-Odd: a\r\n b'),
    'a line has no colon': withField('X-Odd'),
    'a name is empty': withField(': a'),
    'a value holds a NUL': withField('X-Odd: a\0b'),
    'a bare LF would split the head': withField('X-Odd: a\nSet-Cookie: split=1'),
    'a bare CR would split the head': withField('X-Odd: a\rSet-Cookie: split=1'),
    'a bare LF would end the head and begin another response': withField(
      'X-Odd: a\n\nHTTP/1.1 200 OK\nContent-Length: 0',
    ),
    'its lines end with a bare LF': saying('HTTP/1.1 200 OK\nContent-Length: 2\n\nok\r\n\r\n'),
    'its head is over 64 KiB': withField(`X-Large: ${'x'.repeat(65 * 1024)}`),
    'its head never ends': saying(`HTTP/1.1 200 OK\r\n${'X-Many: a\r\n'.repeat(8000)}`),
    'it switches protocols unasked': saying(
      'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
    ),
    'it sends thousands of interim responses before the final one': saying(interim(5000) + good),
  }),
);

t.test('the upstream states two lengths of its body', (t) =>
  judgeFaults(t, {
    'a length and chunks': framed(
      'Content-Length: 5\r\nTransfer-Encoding: chunked',
      '5\r\nhello\r\n0\r\n\r\n',
    ),
    'two lengths': framed('Content-Length: 5\r\nContent-Length: 6', 'hello!'),
    'the same length twice': framed('Content-Length: 5\r\nContent-Length: 5', 'hello'),
    'a list of lengths': framed('Content-Length: 5, 5', 'hello'),
    'a length below zero': framed('Content-Length: -5', 'hello'),
    'a length with a sign': framed('Content-Length: +5', 'hello'),
    'a length in hexadecimal': framed('Content-Length: 0x5', 'hello'),
    'an empty length': framed('Content-Length:', 'hello'),
    'a length beyond all numbers': framed(`Content-Length: ${'9'.repeat(30)}`, 'hello'),
    'chunked twice': framed(
      'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked',
      '5\r\nhello\r\n0\r\n\r\n',
    ),
    'a coding that Postern did not ask for': framed('Transfer-Encoding: gzip, chunked', '0\r\n\r\n'),
    'a length and chunks where no body follows': saying(
      'HTTP/1.1 204 No Content\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n',
    ),
    'an unknown coding where no body follows': saying(
      'HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: identity\r\n\r\n',
    ),
    'an interim response with a length': saying(
      `HTTP/1.1 103 Early Hints\r\nContent-Length: ${good.length}\r\n\r\n${good}${good}`,
    ),
    'an interim response with two lengths': saying(
      `HTTP/1.1 103 Early Hints\r\nContent-Length: 0\r\nContent-Length: 5\r\n\r\n${good}`,
    ),
    'an interim response with chunks': saying(
      `HTTP/1.1 103 Early Hints\r\nTransfer-Encoding: chunked\r\n\r\n${good}`,
    ),
    'chunks in HTTP/1.0': saying(
      'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n',
    ),
  }),
);
