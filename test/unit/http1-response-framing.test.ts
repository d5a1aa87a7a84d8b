import t from 'tap';
import {
  assertNoInterimBody,
  framingOf,
  type ResponseFraming,
} from '../../src/http1/client/response-framing.ts';
import { MalformedMessage } from '../../src/http1/message/message-head.ts';

const reusable = (fields: string[], minor = 1) =>
  framingOf('GET', 200, minor, ['Content-Length', '0', ...fields]).reusable;

t.test('a connection is reused unless the upstream closes it', async (t) => {
  const close = ['Connection', 'close'];
  const keep = ['Connection', 'keep-alive'];
  const rows: [string, string[], number, boolean][] = [
    ['HTTP/1.1 by itself', [], 1, true],
    ['HTTP/1.1 with close', close, 1, false],
    ['close in another case, among others', ['connection', 'x-a , Close'], 1, false],
    ['keep-alive after close', [...close, ...keep], 1, false],
    ['keep-alive before close', [...keep, ...close], 1, false],
    ['both in one', ['Connection', 'keep-alive, close'], 1, false],
    ['an option that only begins like it', ['Connection', 'closed'], 1, true],
    ['HTTP/1.0 by itself', [], 0, false],
    ['HTTP/1.0 with keep-alive', keep, 0, true],
    ['HTTP/1.0 with both', [...close, ...keep], 0, false],
  ];
  for (const [name, fields, minor, expected] of rows) t.equal(reusable(fields, minor), expected, name);
});

const chunked = ['Transfer-Encoding', 'chunked'];
const length = (text: string) => ['Content-Length', text];

const bodies: readonly [string, string, number, string[], Partial<ResponseFraming>][] = [
  ['by its length', 'GET', 200, length('7'), { kind: 'length', length: 7, reusable: true }],
  ['in chunks', 'GET', 200, chunked, { kind: 'chunked', reusable: true }],
  ['by the end of the connection', 'GET', 200, [], { kind: 'close', reusable: false }],
  ['that HEAD only announces', 'HEAD', 200, length('7'), { kind: 'length', length: 0, announced: 7 }],
  ['that HEAD announces in chunks', 'HEAD', 200, chunked, { kind: 'length', length: 0, announced: -1 }],
  ['of a 204', 'GET', 204, [], { kind: 'length', length: 0, reusable: true }],
  ['of a 304', 'GET', 304, [], { kind: 'length', length: 0, reusable: true }],
  ['of a 204 that announces one', 'GET', 204, length('7'), { length: 0, reusable: false }],
  ['of a 304 that announces chunks', 'GET', 304, chunked, { length: 0, reusable: false }],
];
for (const [name, method, status, fields, expected] of bodies)
  t.test(`the end of a body: ${name}`, async (t) => {
    t.match(framingOf(method, status, 1, fields), expected);
  });
t.test('a connection is not reused after a response to HEAD', async (t) => {
  t.equal(framingOf('HEAD', 200, 1, length('0')).reusable, false);
});

const malformed: readonly [string, string[], number?][] = [
  ['length and coding', [...length('1'), ...chunked]],
  ['two lengths', [...length('1'), ...length('1')]],
  ['a list of lengths', length('1, 1')],
  ['an empty length', length('')],
  ['a negative length', length('-1')],
  ['sixteen digits', length('1234567890123456')],
  ['two codings', [...chunked, ...chunked]],
  ['a list of codings', ['Transfer-Encoding', 'gzip, chunked']],
  ['another coding', ['Transfer-Encoding', 'identity']],
  ['a coding in HTTP/1.0', chunked, 0],
];
for (const [name, fields, minor = 1] of malformed)
  t.test(`refused: ${name}`, async (t) => {
    for (const [method, status] of [
      ['GET', 200],
      ['HEAD', 200],
      ['GET', 204],
      ['GET', 304],
    ] as const)
      t.throws(() => framingOf(method, status, minor, fields), MalformedMessage, `${method} ${status}`);
  });

t.test('an interim response that announces a body is refused', async (t) => {
  t.throws(() => assertNoInterimBody(length('1')), MalformedMessage);
  t.throws(() => assertNoInterimBody(chunked), MalformedMessage);
  t.throws(() => assertNoInterimBody([...length('0'), ...length('0')]), MalformedMessage, 'twice');
  t.doesNotThrow(() => assertNoInterimBody(length('0')));
  t.doesNotThrow(() => assertNoInterimBody(['Link', '</a>']));
});

t.test('the time-out that an upstream names counts a second less', async (t) => {
  const keepAliveOf = (value: string) => framingOf('GET', 200, 1, ['Keep-Alive', value]).keepAliveMs;
  t.equal(keepAliveOf('timeout=5'), 4_000);
  t.equal(keepAliveOf('max=3, timeout=5'), 4_000);
  t.equal(keepAliveOf('timeout=0'), 0);
  t.equal(keepAliveOf('max=3'), null);
  t.equal(keepAliveOf('xtimeout=5'), null);
});
