import t from 'tap';
import { framingOf } from '../../src/http1/response-framing.ts';

const reusable = (fields: string[], minor = 1) =>
  framingOf('GET', 200, minor, ['Content-Length', '0', ...fields]).reusable;

t.test('a connection is used again unless the upstream says that it ends', async (t) => {
  const close = ['Connection', 'close'];
  const keep = ['Connection', 'keep-alive'];
  const rows: [string, string[], number, boolean][] = [
    ['HTTP/1.1 by itself', [], 1, true],
    ['HTTP/1.1 with close', close, 1, false],
    ['close in another case, among others', ['connection', 'x-a , Close'], 1, false],
    ['keep-alive behind close', [...close, ...keep], 1, false],
    ['keep-alive before close', [...keep, ...close], 1, false],
    ['both in one', ['Connection', 'keep-alive, close'], 1, false],
    ['a name that only begins so', ['Connection', 'closed'], 1, true],
    ['HTTP/1.0 by itself', [], 0, false],
    ['HTTP/1.0 with keep-alive', keep, 0, true],
    ['HTTP/1.0 with both', [...close, ...keep], 0, false],
  ];
  for (const [name, fields, minor, expected] of rows) t.equal(reusable(fields, minor), expected, name);
});
