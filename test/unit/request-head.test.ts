import t from 'tap';
import { assertUnambiguousHead, isUsableRequestId, readRequestHead } from '../../src/http/request-head.ts';
import { requestFraming } from '../../src/http1/message/request-framing.ts';

const head = (...raw: string[]) => readRequestHead(raw);

function isRefused(raw: string[], httpMinor = 1): boolean {
  try {
    assertUnambiguousHead(readRequestHead(raw, requestFraming(httpMinor, raw)), httpMinor);
    return false;
  } catch (error) {
    return (error as { code: string }).code === 'bad_request';
  }
}

t.test('repeated headers are counted, and the last one is held', (t) => {
  const { authorization, authorizationCount, apiKeyCount, hostCount } = head(
    'Authorization',
    'Bearer a',
    'AUTHORIZATION',
    'Bearer b',
    'X-API-Key',
    'k',
    'Host',
    'a',
    'host',
    'b',
  );
  t.equal(authorization, 'Bearer b');
  t.equal(authorizationCount, 2);
  t.equal(apiKeyCount, 1);
  t.equal(hostCount, 2);
  t.end();
});

t.test('lists in several fields are one list', (t) => {
  const read = head('X-Forwarded-For', 'a', 'X-Forwarded-For', 'b, c', 'Cookie', 'd=1', 'Cookie', 'e=2');
  t.equal(read.forwardedFor, 'a, b, c');
  t.equal(read.cookie, 'd=1; e=2');
  t.end();
});

t.test('Connection names what it takes away', (t) => {
  t.equal(head('Connection', 'keep-alive').connectionNames, null);
  t.equal(head('Connection', 'Close').connectionNames, null);
  t.equal(head('Connection', ' keep-alive , , CLOSE ').connectionNames, null);
  const { connectionNames } = head('Connection', 'close, X-One,x_two', 'Connection', 'X-Three');
  t.same([...connectionNames!], ['x-one', 'x-two', 'x-three']);
  t.end();
});

t.test('a body follows a length that is not 0, and chunks', (t) => {
  t.equal(head().hasBody, false);
  t.equal(head('Content-Length', '0').hasBody, false);
  t.equal(head('Content-Length', '1').hasBody, true);
  t.equal(head('Transfer-Encoding', 'chunked').hasBody, true);
  t.end();
});

t.test('framing that can be read in two ways is refused', (t) => {
  const host = ['Host', 'a.example'];
  t.notOk(isRefused([...host, 'Content-Length', '12']));
  t.notOk(isRefused([...host, 'Transfer-Encoding', 'Chunked']));
  const rows: Record<string, string[]> = {
    'both framings': ['Content-Length', '1', 'Transfer-Encoding', 'chunked'],
    'two lengths': ['Content-Length', '1', 'Content-Length', '1'],
    'a length with a sign': ['Content-Length', '+1'],
    'a length with a blank': ['Content-Length', '1 '],
    'an empty length': ['Content-Length', ''],
    'a length beyond exact numbers': ['Content-Length', '1000000000000000'],
    'another coding': ['Transfer-Encoding', 'gzip'],
    'a list of codings': ['Transfer-Encoding', 'gzip, chunked'],
    'an empty member': ['Transfer-Encoding', ',chunked'],
    'two codings': ['Transfer-Encoding', 'chunked', 'Transfer-Encoding', 'chunked'],
    'an empty coding': ['Transfer-Encoding', ''],
  };
  for (const [name, raw] of Object.entries(rows)) t.ok(isRefused([...host, ...raw]), name);
  t.ok(isRefused([...host, 'Transfer-Encoding', 'chunked'], 0), 'chunks on HTTP/1.0');
  t.end();
});

t.test('Host is one authority, and may be absent on HTTP/1.0 alone', (t) => {
  for (const host of ['a', 'a.example:80', '10.0.0.1', '[::1]:8080', 'a_b.example', 'a%20b'])
    t.notOk(isRefused(['Host', host]), host);
  for (const host of ['', 'a b', 'a,b', 'u@a', 'a/b', 'a?b', 'a:b', 'a:1:2', '[', 'a'.repeat(256)])
    t.ok(isRefused(['Host', host]), `'${host}'`);
  t.ok(isRefused([]));
  t.notOk(isRefused([], 0));
  t.ok(isRefused(['Host', 'a', 'Host', 'a'], 0));
  t.end();
});

t.test('a request id is taken over when it is given once and harmless', (t) => {
  t.ok(isUsableRequestId(head('X-Request-Id', 'A-z.0_9')));
  t.ok(isUsableRequestId(head('X-Request-Id', 'a'.repeat(128))));
  for (const id of ['', 'a'.repeat(129), 'a b', 'a,b', 'a\n', 'é', '"a"'])
    t.notOk(isUsableRequestId(head('X-Request-Id', id)), `'${id}'`);
  t.notOk(isUsableRequestId(head('X-Request-Id', 'a', 'X-Request-Id', 'a')));
  t.end();
});
