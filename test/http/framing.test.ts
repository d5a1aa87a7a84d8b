import t from 'tap';
import { startForwarding } from '../support/forwarding.ts';
import { exchangeRaw } from '../support/raw-client.ts';
import { assertRefused } from '../support/refused.ts';

const post = 'POST /api/store/x HTTP/1.1';
const get = 'GET /api/store/x HTTP/1.1';
const noBody = 'GET /api/store/smuggled HTTP/1.1\r\nHost: gateway.example\r\n\r\n';

t.test('ambiguous framing is 400 and the end of the connection', async (t) => {
  const gateway = await startForwarding(t);
  const rows: Record<string, string> = {
    'Content-Length beside Transfer-Encoding': gateway.raw(
      post,
      ['Content-Length: 4', 'Transfer-Encoding: chunked'],
      `0\r\n\r\n${noBody}`,
    ),
    'Transfer-Encoding beside Content-Length': gateway.raw(
      post,
      ['Transfer-Encoding: chunked', 'Content-Length: 4'],
      `0\r\n\r\n${noBody}`,
    ),
    'an empty Transfer-Encoding beside Content-Length': gateway.raw(
      post,
      ['Transfer-Encoding: ', 'Content-Length: 3'],
      'abc',
    ),
    'an empty Transfer-Encoding alone': gateway.raw(post, ['Transfer-Encoding:'], noBody),
    'Transfer-Encoding with an empty member before chunked': gateway.raw(
      post,
      ['Transfer-Encoding: ,chunked'],
      '0\r\n\r\n',
    ),
    'Transfer-Encoding with an empty member after chunked': gateway.raw(
      post,
      ['Transfer-Encoding: chunked,'],
      '0\r\n\r\n',
    ),
    'another coding before chunked': gateway.raw(post, ['Transfer-Encoding: gzip, chunked'], '0\r\n\r\n'),
    'another coding after chunked': gateway.raw(post, ['Transfer-Encoding: chunked, gzip'], '0\r\n\r\n'),
    'chunked twice in one field': gateway.raw(post, ['Transfer-Encoding: chunked, chunked'], '0\r\n\r\n'),
    'chunked twice in two fields': gateway.raw(
      post,
      ['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'],
      '0\r\n\r\n',
    ),
    'identity and chunked in two fields': gateway.raw(
      post,
      ['Transfer-Encoding: identity', 'Transfer-Encoding: chunked'],
      '0\r\n\r\n',
    ),
    'the identity coding': gateway.raw(post, ['Transfer-Encoding: identity'], noBody),
    'an unknown coding': gateway.raw(post, ['Transfer-Encoding: xchunked'], '0\r\n\r\n'),
    'chunked in quotes': gateway.raw(post, ['Transfer-Encoding: "chunked"'], '0\r\n\r\n'),
    'chunked with a parameter': gateway.raw(post, ['Transfer-Encoding: chunked;q=1'], '0\r\n\r\n'),
    'a vertical tab before chunked': gateway.raw(post, ['Transfer-Encoding: \x0bchunked'], '0\r\n\r\n'),
    'Transfer-Encoding on HTTP/1.0': gateway.raw(
      'POST /api/store/x HTTP/1.0',
      ['Transfer-Encoding: chunked'],
      '0\r\n\r\n',
    ),
    'the same Content-Length twice': gateway.raw(post, ['Content-Length: 3', 'Content-Length: 3'], 'abc'),
    'two different Content-Lengths': gateway.raw(post, ['Content-Length: 3', 'Content-Length: 0'], 'abc'),
    'a list in Content-Length': gateway.raw(post, ['Content-Length: 5, 5'], 'abcde'),
    'a sign in Content-Length': gateway.raw(post, ['Content-Length: +5'], 'abcde'),
    'a negative Content-Length': gateway.raw(post, ['Content-Length: -5'], 'abcde'),
    'a hexadecimal Content-Length': gateway.raw(post, ['Content-Length: 0x5'], 'abcde'),
    'a fraction in Content-Length': gateway.raw(post, ['Content-Length: 5.0'], 'abcde'),
    'a blank within Content-Length': gateway.raw(post, ['Content-Length: 5 5'], 'abcde'),
    'an empty Content-Length': gateway.raw(post, ['Content-Length:'], noBody),
    'a Content-Length beyond 64 bits': gateway.raw(post, ['Content-Length: 99999999999999999999999'], 'a'),
    'a Content-Length beyond exact numbers': gateway.raw(post, ['Content-Length: 9999999999999999'], 'a'),
    'a blank before the colon of Transfer-Encoding': gateway.raw(
      post,
      ['Transfer-Encoding : chunked'],
      '0\r\n\r\n',
    ),
    'a blank before the colon of Content-Length': gateway.raw(post, ['Content-Length : 3'], 'abc'),
    'Transfer-Encoding on a continuation line': gateway.raw(
      post,
      ['X-A: b', ' Transfer-Encoding: chunked'],
      '0\r\n\r\n',
    ),
    'obs-fold with a tab': gateway.raw(get, ['X-A: b', '\tc']),
    'a fold before the first field': `${get}\r\n Host: gateway.example\r\n\r\n`,
    'a bare LF after the request line': gateway.raw(get).replace('\r\n', '\n'),
    'a bare LF between two fields': gateway.raw(get, ['X-A: b\nX-B: c']),
    'a bare LF at the end of the head': gateway.raw(get).replace(/\r\n\r\n$/, '\r\n\n'),
    'a bare CR in a value': gateway.raw(get, ['X-A: b\rX-B: c']),
    'two CRs before an LF': gateway.raw(get, ['X-A: b\r']),
    'a NUL in a value': gateway.raw(get, ['X-A: b\0c']),
    'a control character in a value': gateway.raw(get, ['X-A: b\x01c']),
    'DEL in a value': gateway.raw(get, ['X-A: b\x7fc']),
    'a byte above 0x7e in a name': gateway.raw(get, ['X-\xe9: b']),
    'a field without a name': gateway.raw(get, [': b']),
    'a line without a colon': gateway.raw(get, ['abc']),
    'a name in quotes': gateway.raw(get, ['"X-A": b']),
  };
  for (const [name, bytes] of Object.entries(rows))
    await t.test(name, (t) => assertRefused(t, gateway, bytes, 400));
});

t.test('Connection can take no header away that the request stands on', async (t) => {
  const gateway = await startForwarding(t);
  for (const name of [
    'Host',
    'Content-Length',
    'Content-Type',
    'Cookie',
    'Authorization',
    'X-API-Key',
    'x_api_key',
  ])
    await t.test(`Connection naming ${name} is 400`, (t) =>
      assertRefused(t, gateway, gateway.raw(get, [`Connection: keep-alive, ${name}`]), 400),
    );
});

t.test('lengths with zeros before them are lengths', async (t) => {
  const gateway = await startForwarding(t);
  const { responses } = await exchangeRaw(
    gateway.port,
    gateway.raw(post, ['Content-Length: 003', 'Connection: close'], 'abc'),
  );
  t.equal(responses[0]?.status, 200);
  const seen = gateway.upstream.seen.at(-1)!;
  t.equal(seen.body.toString(), 'abc');
  t.same(seen.values('content-length'), ['3']);
});

t.test('a refusal leaves nothing to be read as a request', async (t) => {
  const gateway = await startForwarding(t);
  const smuggled = gateway.raw('GET /api/store/smuggled HTTP/1.1');
  await t.test('after a target that is refused', async (t) => {
    await assertRefused(t, gateway, gateway.raw('GET /api//x HTTP/1.1') + smuggled, 400);
  });
  await t.test('after a body that is refused unread', async (t) => {
    await assertRefused(
      t,
      gateway,
      gateway.raw(post, [`Content-Length: ${smuggled.length}`], smuggled).replace(/X-API-Key: \S+\r\n/, ''),
      401,
    );
  });
  await t.test('after a broken head with a megabyte behind it', async (t) => {
    await assertRefused(t, gateway, gateway.raw(get, ['X-A: b\nc']) + 'x'.repeat(1024 * 1024), 400);
  });
});
