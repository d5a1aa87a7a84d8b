import t from 'tap';
import { responseFields, type SeenCredential, trailerFields } from '../../src/proxy/response-headers.ts';

const rules = {
  ownCookies: { names: ['refresh'], prefixes: ['refresh_login_'] },
  ownsCors: false,
  hasHsts: false,
  dropsServiceWorkerScope: false,
};
const cleaned = (raw: string[], more: Partial<typeof rules> = {}, credential: SeenCredential = 'none') =>
  responseFields(raw, 'id-1', credential, { ...rules, ...more });

t.test('headers pass as they stand and in their order, behind the request id', (t) => {
  const raw = ['Content-Type', 'a/b', 'x-custom', 'a', 'X-Custom', 'b', 'ETag', '"\xe9"'];
  t.same(cleaned(raw), ['X-Request-Id', 'id-1', ...raw]);
  t.end();
});

t.test('hop-by-hop headers, what Connection names and the upstream’s own request id go', (t) => {
  const names = [
    'Keep-Alive',
    'Proxy-Connection',
    'Proxy-Authenticate',
    'TE',
    'Trailer',
    'Transfer-Encoding',
  ];
  const raw = [...names, 'Upgrade', 'X-Request-Id', 'x-request-id'].flatMap((name) => [name, 'x']);
  t.same(cleaned(raw), ['X-Request-Id', 'id-1']);
  const headers = cleaned(['X-One', 'a', 'Connection', 'close, X-One', 'x_two', 'b', 'Connection', 'X-Two']);
  t.same(headers, ['X-Request-Id', 'id-1']);
  t.end();
});

t.test('Connection takes away no cookie, caching or request id', (t) => {
  const raw = ['Set-Cookie', 'a=1', 'Cache-Control', 'no-store'];
  const connection = ['Connection', 'Set-Cookie, Cache-Control, X-Request-Id'];
  t.same(cleaned([...connection, ...raw]), ['X-Request-Id', 'id-1', ...raw]);
  t.end();
});

t.test('cookies of Postern’s own names go, the others stay apart', (t) => {
  const kept = ['a=1; Path=/', 'b=2', 'c=3; HttpOnly', 'Refresh=4', 'refresh_more=5'];
  const own = [
    'refresh=x',
    'refresh_login_abc-_9=y; Path=/',
    ' refresh =z',
    'refresh',
    '=refresh=x',
    'refresh=; Max-Age=0',
  ];
  const raw = [...own, ...kept].flatMap((value) => ['Set-Cookie', value]);
  const headers = cleaned(raw);
  t.same(
    headers.slice(2).filter((_, i) => i % 2 === 1),
    kept,
  );
  t.end();
});

t.test('a response to an authenticated request is private unless it says otherwise', (t) => {
  const caching = (raw: string[], credential: SeenCredential) => cleaned(raw, {}, credential).slice(2);
  t.same(caching([], 'known'), ['Cache-Control', 'private']);
  t.same(caching([], 'none'), []);
  t.same(caching(['cache-control', 'public'], 'known'), ['cache-control', 'public']);
  t.same(caching(['Expires', '0'], 'known'), ['Expires', '0', 'Cache-Control', 'private']);
  t.end();
});

t.test('a response whose credential shared caches do not know is private, whatever it says', (t) => {
  const rows: readonly [sentence: string, fields: readonly string[], expected: string][] = [
    ['it says nothing', [], 'private'],
    ['nothing in its field', ['Cache-Control', ''], 'private'],
    ['its life', ['Cache-Control', 'max-age=60'], 'private, max-age=60'],
    ['shared caches are invited', ['cache-control', 'Public, s-maxage=9, max-age=60'], 'private, max-age=60'],
    ['it is private', ['Cache-Control', 'max-age=60, Private'], 'max-age=60, Private'],
    ['it is stored nowhere', ['Cache-Control', 'no-store, public'], 'no-store'],
    ['two fields say it', ['Cache-Control', 'public', 'Cache-Control', 'no-store'], 'no-store'],
    [
      'Connection lists it',
      ['Connection', 'cache-control', 'Cache-Control', 'max-age=6'],
      'private, max-age=6',
    ],
    [
      'another network of caches is invited',
      ['CDN-Cache-Control', 'public', 'Surrogate-Control', 'x'],
      'private',
    ],
  ];
  for (const [sentence, fields, expected] of rows)
    t.same(cleaned([...fields], {}, 'unknown').slice(2), ['Cache-Control', expected], sentence);
  const others = ['CDN-Cache-Control', 'public', 'Cache-Control', 'public', 'ETag', '"1"'];
  t.same(cleaned(others, {}, 'known').slice(2), others, 'Authorization they know');
  t.end();
});

t.test('Access-Control-* is the upstream’s until Postern owns it', (t) => {
  const raw = ['Access-Control-Allow-Origin', '*', 'access-control-expose-headers', 'x', 'Vary', 'Origin'];
  t.same(cleaned(raw).slice(2), raw);
  t.same(cleaned(raw, { ownsCors: true }).slice(2), ['Vary', 'Origin']);
  t.end();
});

t.test('the length is left to whoever frames the body', (t) => {
  t.same(cleaned(['Content-Length', '3']).slice(2), []);
  t.end();
});

t.test('as trailers and with interim responses nothing passes that frames, caches or identifies', (t) => {
  const names = [
    'Content-Length',
    'Transfer-Encoding',
    'Connection',
    'Set-Cookie',
    'Cache-Control',
    'Trailer',
  ];
  const raw = [...names, 'X-Request-Id', 'Access-Control-Allow-Origin'].flatMap((name) => [name, 'x']);
  t.same(trailerFields([...raw, 'Link', '</a>', 'Server-Timing', 'b']), [
    'Link',
    '</a>',
    'Server-Timing',
    'b',
  ]);
  t.end();
});
