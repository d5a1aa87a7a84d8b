import t from 'tap';
import { createPassedMeaning } from '../../src/http/header-names.ts';
import { readRequestHead } from '../../src/http/request-head.ts';
import { FieldBlock } from '../../src/http1/message/head-text.ts';
import { type Forwarding, requestFields, traceparentFor } from '../../src/proxy/request-headers.ts';

const forwarding: Omit<Forwarding, 'traceparent'> = {
  identity: new FieldBlock(['X-Auth-Subject', 'u1']),
  fixed: null,
  host: 'gateway.example',
  requestId: 'id-1',
  peer: '192.0.2.1',
  encrypted: false,
  fromTrustedProxy: false,
  via: 'this-gateway',
  strippedPrefix: '',
  passedMeaning: createPassedMeaning({ passOddNames: false, passMethodOverride: false, dropped: [] }),
  ownCookies: { names: ['refresh'], prefixes: ['refresh_login_'] },
  passesAuthorization: false,
  passesApiKey: false,
  withoutCredentials: false,
  upgrade: null,
};
const common = ['Host', 'gateway.example'];

function sent(raw: string[], more: Partial<Forwarding> = {}): string[] {
  const head = readRequestHead([...common, ...raw]);
  return requestFields(head, { ...forwarding, traceparent: traceparentFor(head), ...more });
}

/** All values of a header in a flat list. */
function values(flat: readonly string[], name: string): string[] {
  return flat.filter((_, i) => i % 2 === 1 && flat[i - 1]!.toLowerCase() === name);
}

t.test('headers that mean nothing to Postern pass as they stand and in their order', (t) => {
  const raw = ['accept', '*/*', 'X-Custom', 'a', 'x-custom', 'b', 'Origin', 'https://o', 'User-Agent', 'ua'];
  t.same(sent(raw).slice(0, raw.length + 2), [...common, ...raw]);
  t.end();
});

t.test('an Authorization and X-API-Key of the application pass as they came, but with no preflight', (t) => {
  const raw = ['authorization', 'AWS4-HMAC-SHA256 a=b,c', 'X-API-Key', 'sk-\xe9', 'X_API_Key', 'odd'];
  const passed = (more: Partial<Forwarding>) =>
    sent(raw, more).filter((_, i, all) => /^(?:authorization|x.api.key)$/i.test(all[i - (i % 2)]!));
  t.strictSame(passed({ passesAuthorization: true, passesApiKey: true }), raw.slice(0, 4));
  t.strictSame(passed({ passesAuthorization: true }), raw.slice(0, 2));
  t.strictSame(passed({ passesApiKey: true }), raw.slice(2, 4));
  t.strictSame(passed({}), []);
  t.end();
});

t.test('headers that Postern sets or checks do not pass', (t) => {
  const names = ['Authorization', 'X-API-Key', 'X-Auth-Subject', 'X_Auth_Scopes', 'Proxy', 'Forwarded'];
  const others = ['X-Real-IP', 'X-Forwarded-Port', 'Expect', 'Upgrade', 'TE', 'Keep-Alive', 'Connection'];
  const flat = sent([...names, ...others].flatMap((name) => [name, 'evil']));
  t.notOk(flat.includes('evil'));
  t.same(values(flat, 'x-auth-subject'), ['u1']);
  t.end();
});

t.test('headers named by Connection are removed, in any spelling', (t) => {
  const flat = sent([
    'Connection',
    'X-One, x_two',
    'X-One',
    'a',
    'X_Two',
    'b',
    'X-Three',
    'c',
    'User-Agent',
    'd',
  ]);
  t.same(values(flat, 'x-one'), []);
  t.same(values(flat, 'x_two'), []);
  t.same(values(flat, 'x-three'), ['c']);
  t.same(values(sent(['Connection', 'User-Agent', 'User-Agent', 'a']), 'user-agent'), []);
  t.end();
});

t.test('Connection takes nothing away that Postern says', (t) => {
  const connection =
    'X-Auth-Subject, X-Request-Id, X-Forwarded-For, traceparent, Forwarded, Transfer-Encoding';
  const flat = sent(['Connection', connection]);
  for (const name of ['x-auth-subject', 'x-request-id', 'x-forwarded-for', 'traceparent'])
    t.equal(values(flat, name).length, 1, name);
  t.end();
});

t.test('own cookies go, and a header that held nothing else goes with them', (t) => {
  t.same(values(sent(['Cookie', 'a=1; refresh=x']), 'cookie'), ['a=1']);
  t.same(values(sent(['Cookie', 'refresh=x']), 'cookie'), []);
  t.same(values(sent(['Cookie', 'a=1', 'Cookie', 'refresh=x', 'Cookie', 'b=2']), 'cookie'), ['a=1', 'b=2']);
  t.end();
});

t.test('a preflight takes no credential of any kind along', (t) => {
  const flat = sent(['Cookie', 'a=1', 'Authorization', 'Bearer x', 'X-API-Key', 'k'], {
    withoutCredentials: true,
    identity: null,
  });
  for (const name of ['cookie', 'authorization', 'x-api-key', 'x-auth-subject'])
    t.same(values(flat, name), []);
  t.end();
});

t.test('a preflight asks for no other method, also where overrides pass', (t) => {
  const passedMeaning = createPassedMeaning({ passOddNames: true, passMethodOverride: true, dropped: [] });
  const raw = ['X-HTTP-Method-Override', 'DELETE', 'x-method-override', 'DELETE', 'X-HTTP-Method', 'DELETE'];
  t.same(sent(raw, { passedMeaning }).slice(2, 2 + raw.length), raw, 'other requests do');
  const flat = sent(raw, { passedMeaning, withoutCredentials: true, identity: null });
  t.notOk(flat.includes('DELETE'));
  t.end();
});

t.test('headers about the origin of the request', (t) => {
  const raw = [
    ...['X-Forwarded-For', '198.51.100.1'],
    ...['X-Forwarded-For', '10.0.0.2'],
    ...['X-Forwarded-Proto', 'https', 'X-Forwarded-Host', 'front.example'],
  ];
  const untrusted = sent(raw);
  t.same(values(untrusted, 'x-forwarded-for'), ['192.0.2.1']);
  t.same(values(untrusted, 'x-forwarded-proto'), ['http']);
  t.same(values(untrusted, 'x-forwarded-host'), ['gateway.example']);
  const trusted = sent(raw, { fromTrustedProxy: true });
  t.same(values(trusted, 'x-forwarded-for'), ['198.51.100.1, 10.0.0.2, 192.0.2.1']);
  t.same(values(trusted, 'x-forwarded-proto'), ['https']);
  t.same(values(trusted, 'x-forwarded-host'), ['front.example']);
  const silent = sent([], { fromTrustedProxy: true, encrypted: true });
  t.same(values(silent, 'x-forwarded-for'), ['192.0.2.1']);
  t.same(values(silent, 'x-forwarded-proto'), ['https']);
  t.end();
});

t.test('a traceparent is passed on when it is one, and made otherwise', (t) => {
  const good = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  t.same(values(sent(['traceparent', good]), 'traceparent'), [good]);
  const bad = [
    ['traceparent', good, 'traceparent', good],
    ['traceparent', good.toUpperCase()],
    ['traceparent', good.replace('4bf92f3577b34da6a3ce929d0e0e4736', '0'.repeat(32))],
    ['traceparent', `${good}-x`],
    [],
  ];
  for (const raw of bad) {
    const made = values(sent(raw), 'traceparent');
    t.equal(made.length, 1);
    t.match(made[0], /^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
  }
  t.not(values(sent([]), 'traceparent')[0], values(sent([]), 'traceparent')[0], 'every time another');
  t.end();
});

t.test('the known part of a later version’s traceparent passes as version 00', (t) => {
  const ids = '4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7';
  for (const [given, passed] of [
    [`01-${ids}-01`, `00-${ids}-01`],
    [`01-${ids}-01-extra`, `00-${ids}-01`],
    [`fe-${ids}-fe-a-b`, `00-${ids}-00`],
  ] as const)
    t.same(values(sent(['traceparent', given]), 'traceparent'), [passed]);
  for (const bad of [
    `ff-${ids}-01`,
    `FE-${ids}-01`,
    `01-${ids}-01extra`,
    `01-${ids}-0`,
    `01-${ids.toUpperCase()}-01`,
    `01-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
  ])
    t.notMatch(values(sent(['traceparent', bad]), 'traceparent')[0], ids.slice(0, 32), bad);
  t.end();
});

t.test('tracestate goes on with the traceparent it came with, and not beside a new one', (t) => {
  const good = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  const state = ['tracestate', 'a=1', 'TraceState', 'b=2'];
  const ours = { traceparent: good.replace('00f067aa0ba902b7', 'ffffffffffffffff') };
  for (const more of [{}, ours]) {
    for (const accepted of [good, `01${good.slice(2)}-extra`]) {
      t.same(values(sent(['traceparent', accepted, ...state], more), 'tracestate'), ['a=1', 'b=2']);
      t.same(values(sent([...state, 'traceparent', accepted], more), 'tracestate'), ['a=1', 'b=2']);
    }
    t.same(values(sent(state, more), 'tracestate'), [], 'no traceparent');
    for (const bad of [good.toUpperCase(), `ff${good.slice(2)}`, good.replaceAll(/[1-9a-f]/g, '0')])
      t.same(values(sent(['traceparent', bad, ...state], more), 'tracestate'), [], bad);
    const twice = ['traceparent', good, 'traceparent', good];
    t.same(values(sent([...twice, ...state], more), 'tracestate'), [], 'repeated');
  }
  t.end();
});

t.test('a single framing header is written, anew', (t) => {
  t.same(values(sent(['content-length', '3']), 'content-length'), ['3']);
  t.same(values(sent(['content-length', '007']), 'content-length'), ['7']);
  const chunked = sent(['Transfer-Encoding', 'CHUNKED']);
  t.same(values(chunked, 'transfer-encoding'), ['chunked']);
  t.same(values(chunked, 'content-length'), []);
  t.end();
});
