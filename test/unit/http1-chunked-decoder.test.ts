import t from 'tap';
import { ChunkedDecoder } from '../../src/http1/message/chunked-decoder.ts';
import { MalformedMessage } from '../../src/http1/message/message-head.ts';
import { cuts } from '../support/servers/fake-socket.ts';

const maxTrailerBytes = 64;

/** What the pieces decode to; `beyond`: how many of the bytes follow the body. */
function decode(pieces: readonly string[]) {
  const decoder = new ChunkedDecoder(maxTrailerBytes);
  const body: Buffer[] = [];
  let beyond = 0;
  for (const piece of pieces) {
    const bytes = Buffer.from(piece, 'latin1');
    const end = decoder.done ? 0 : decoder.decode(bytes, 0, { onChunk: (chunk) => void body.push(chunk) });
    beyond += bytes.length - end;
  }
  return { body: `${Buffer.concat(body)}`, done: decoder.done, beyond, trailers: decoder.takeTrailers() };
}

const whole: readonly [string, string, string, string[]?, number?][] = [
  ['one chunk', '5\r\nhello\r\n0\r\n\r\n', 'hello'],
  ['none', '0\r\n\r\n', ''],
  ['several', '2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n', 'hello'],
  ['more than are passed on one by one', `${'1\r\na\r\n'.repeat(9)}0\r\n\r\n`, 'aaaaaaaaa'],
  ['hexadecimal in lower case', 'a\r\n0123456789\r\n0\r\n\r\n', '0123456789'],
  ['and in upper case', 'A\r\n0123456789\r\n0\r\n\r\n', '0123456789'],
  ['zeros before the size', '000000000005\r\nhello\r\n000\r\n\r\n', 'hello'],
  ['line ends in the data', '4\r\n\r\n\r\n\r\n0\r\n\r\n', '\r\n\r\n'],
  ['an extension', '5;a\r\nhello\r\n0\r\n\r\n', 'hello'],
  ['with a token', '5;a=b;c=d\r\nhello\r\n0;e\r\n\r\n', 'hello'],
  ['with a quoted string', '5;a="b;\\"\t\xe9"\r\nhello\r\n0\r\n\r\n', 'hello'],
  ['trailers', '0\r\nX-A: 1\r\nX-B:\t2 \r\n\r\n', '', ['X-A', '1', 'X-B', '2']],
  ['bytes after it', '1\r\na\r\n0\r\n\r\nGET /', 'a', [], 5],
  ['bytes after its trailers', '0\r\nX-A: 1\r\n\r\n\r\n', '', ['X-A', '1'], 2],
];
for (const [name, wire, body, trailers = [], beyond = 0] of whole)
  for (const [how, pieces] of cuts(wire))
    t.test(`accepted: ${name}, ${how}`, async (t) => {
      t.strictSame(decode(pieces), { body, done: true, beyond, trailers });
    });

const unfinished = ['', '5', '5\r', '5;a', '5\r\nhel', '5\r\nhello', '5\r\nhello\r\n', '0\r\n', '0\r\n\r'];
for (const wire of [...unfinished, '0\r\nX-A: 1\r\n', '0\r\nX-A: 1\r\n\r'])
  for (const [how, pieces] of cuts(wire))
    t.test(`not over yet: ${JSON.stringify(wire)}, ${how}`, async (t) => {
      t.equal(decode(pieces).done, false);
    });

const malformed: readonly [string, string][] = [
  ['no size', '\r\n'],
  ['a sign', '-5\r\n'],
  ['a plus', '+5\r\n'],
  ['a prefix', '0x5\r\n'],
  ['a blank before the size', ' 5\r\n'],
  ['a space after it', '5 \r\n'],
  ['no hexadecimal digit', 'g\r\n'],
  ['a size that ends with a bare LF', '5\nhello'],
  ['or with a bare CR', '5\rh'],
  ['a size of 13 digits', '0000000000005\r\n'],
  ['data longer than its size', '5\r\nhello!'],
  ['data that ends with a bare LF', '5\r\nhello\n'],
  ['or with a bare CR', '5\r\nhello\r0'],
  ['an extension without a name', '5;\r\n'],
  ['a name that is no token', '5;a(\r\n'],
  ['a blank before a name', '5; a\r\n'],
  ['an extension without a value', '5;a=\r\n'],
  ['a value without a name', '5;=a\r\n'],
  ['a string that is not closed', '5;a="b\r\n'],
  ['or is followed by more', '5;a="b"c\r\n'],
  ['a control character in an extension', '5;a="\x01"\r\n'],
  ['LF in an extension', '5;a\nb\r\n'],
  ['extensions without end', `5;${'a'.repeat(1_025)}`],
  ['a trailer without a colon', '0\r\nX-A\r\n\r\n'],
  ['a trailer without a name', '0\r\n: 1\r\n\r\n'],
  ['a blank before the colon', '0\r\nX-A : 1\r\n\r\n'],
  ['a folded trailer', '0\r\nX-A: 1\r\n 2\r\n\r\n'],
  ['a trailer that ends with a bare LF', '0\r\nX-A: 1\nX-B: 2\r\n\r\n'],
  ['a control character in a trailer', '0\r\nX-A: \x00'],
  ['trailers without end', `0\r\nX-A: ${'a'.repeat(maxTrailerBytes)}`],
];
for (const [name, wire] of malformed)
  for (const [how, pieces] of cuts(wire))
    t.test(`refused: ${name}, ${how}`, async (t) => {
      t.throws(() => decode(pieces), MalformedMessage);
    });

t.test('chunks of a byte each are passed on as one piece', async (t) => {
  const given: string[] = [];
  const bytes = Buffer.from(`${'1\r\na\r\n'.repeat(100)}0\r\n\r\n`);
  new ChunkedDecoder(maxTrailerBytes).decode(bytes, 0, { onChunk: (chunk) => void given.push(`${chunk}`) });
  t.strictSame(given, ['a'.repeat(100)]);
});
