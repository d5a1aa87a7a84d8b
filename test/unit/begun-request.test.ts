import t from 'tap';
import { readBegunRequest } from '../../src/http/begun-request.ts';

const read = (text: string) => readBegunRequest(Buffer.from(text, 'latin1'), 'id-1');

t.test('a head is read as far as it has come, and as far as it is one', async (t) => {
  const begun = read(
    'GET /a/b?c=d HTTP/1.1\r\nHost: x\r\n no field\r\nAccept:  text/html \r\nOrigin: https://evil',
  );
  t.match(begun, { id: 'id-1', method: 'GET', target: '/a/b?c=d', path: '/a/b', query: 'c=d', route: '' });
  t.same(begun!.head.raw, ['Host', 'x', 'Accept', 'text/html'], 'the last line may go on');
});

t.test('bytes after the head are no part of it', async (t) => {
  t.same(read('GET / HTTP/1.1\r\nA: b\r\n\r\nC: d\r\n')!.head.raw, ['A', 'b']);
  t.same(read('GET / HTTP/1.1\r\n\r\nC: d\r\n')!.head.raw, []);
  t.same(read('GET / HTTP/1.1\r\n')!.head.raw, []);
  t.same(read('GET / HTTP/1.1')!.head.raw, []);
});

t.test('a query may break off, a path may not', async (t) => {
  t.match(read('GET /a?b=c'), { path: '/a', query: 'b=c' });
  t.match(read('\r\nPOST /a?'), { method: 'POST', path: '/a', query: '' });
  t.match(read('GET /a '), { path: '/a' });
  t.match(read('GET /a\r\n'), { path: '/a' });
  t.equal(read('GET /a'), null);
});

t.test('bytes without a request line have no method or path', async (t) => {
  for (const text of [
    '',
    '\r\n',
    'GET',
    'GET ',
    'get / HTTP/1.1\r\n',
    'GET  / HTTP/1.1\r\n',
    'GET x HTTP/1.1\r\n',
  ])
    t.equal(read(text), null, JSON.stringify(text));
  for (const text of ['GET http://a/ HTTP/1.1\r\n', 'GET /\u00e9 HTTP/1.1\r\n', '\u0016\u0003\u0001'])
    t.equal(read(text), null, JSON.stringify(text));
});

t.test('long blanks are read in one go', async (t) => {
  const blanks = ' '.repeat(1_000_000);
  t.same(read(`GET / HTTP/1.1\r\nA:${blanks}b${blanks}c\r\n`)!.head.raw, ['A', `b${blanks}c`]);
});
