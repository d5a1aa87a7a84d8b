import t from 'tap';
import { hasBody, requestFraming } from '../../src/http1/message/request-framing.ts';

const chunked = ['Transfer-Encoding', 'chunked'];
const length = (text: string) => ['Content-Length', text];

const bodies: readonly [string, string[], { isChunked: boolean; length: number }][] = [
  ['none', [], { isChunked: false, length: -1 }],
  ['of no bytes', length('0'), { isChunked: false, length: 0 }],
  ['of some', length('12'), { isChunked: false, length: 12 }],
  ['of some, with zeros before', ['content-length', '0012'], { isChunked: false, length: 12 }],
  ['of fifteen digits', length('999999999999999'), { isChunked: false, length: 999_999_999_999_999 }],
  ['in chunks', chunked, { isChunked: true, length: -1 }],
  ['in chunks, in another case', ['TRANSFER-ENCODING', 'Chunked'], { isChunked: true, length: -1 }],
];
for (const [name, fields, expected] of bodies)
  t.test(`a body ${name}`, async (t) => {
    const framing = requestFraming(1, ['Host', 'a', ...fields]);
    t.match(framing, { ...expected, isAmbiguous: false });
    t.equal(hasBody(framing), expected.isChunked || expected.length > 0);
  });

const ambiguous: readonly [string, string[], number?][] = [
  ['length and coding', [...length('1'), ...chunked]],
  ['coding and length', [...chunked, ...length('1')]],
  ['two lengths', [...length('1'), ...length('2')]],
  ['the same length twice', [...length('1'), ...length('1')]],
  ['a list of lengths', length('1, 1')],
  ['an empty length', length('')],
  ['a sign', length('+1')],
  ['a negative length', length('-1')],
  ['a hexadecimal length', length('0x1')],
  ['a fraction', length('1.0')],
  ['a blank inside', length('1 2')],
  ['sixteen digits', length('1234567890123456')],
  ['two codings', [...chunked, ...chunked]],
  ['a list of codings', ['Transfer-Encoding', 'gzip, chunked']],
  ['an empty member', ['Transfer-Encoding', ',chunked']],
  ['another coding', ['Transfer-Encoding', 'identity']],
  ['no coding', ['Transfer-Encoding', '']],
  ['a parameter', ['Transfer-Encoding', 'chunked;a=b']],
  ['a coding in HTTP/1.0', chunked, 0],
];
for (const [name, fields, minor = 1] of ambiguous)
  t.test(`two readers could differ: ${name}`, async (t) => {
    t.equal(requestFraming(minor, fields).isAmbiguous, true);
  });

const connections: readonly [string, number, string[], boolean][] = [
  ['HTTP/1.1 by itself', 1, [], false],
  ['HTTP/1.0 by itself', 0, [], true],
  ['HTTP/1.1 with close', 1, ['close'], true],
  ['in another case, among others', 1, ['x-a , Close'], true],
  ['in a second field', 1, ['keep-alive', 'close'], true],
  ['an option that only begins like it', 1, ['closed'], false],
  ['HTTP/1.0 with keep-alive', 0, ['Keep-Alive'], false],
  ['HTTP/1.0 with both', 0, ['keep-alive, close'], true],
  ['HTTP/1.0 with something else', 0, ['x'], true],
];
for (const [name, minor, values, closes] of connections)
  t.test(`the connection ${closes ? 'ends' : 'stays'}: ${name}`, async (t) => {
    const fields = values.flatMap((value) => ['Connection', value]);
    t.equal(requestFraming(minor, fields).closes, closes);
    t.equal(requestFraming(minor, [...fields, ...length('1')]).closes, closes, 'with a body');
  });
