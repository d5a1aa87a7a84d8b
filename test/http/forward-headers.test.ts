import t from 'tap';
import { exchangeRaw } from '../support/clients/raw-client.ts';
import { type Forwarding, startForwarding } from '../support/gateway/forwarding.ts';

/** The headers the upstream sees of a request with those lines: names and values in turn. */
async function passedOn(
  gateway: Forwarding,
  lines: readonly string[],
  requestLine = 'GET /api/store/x HTTP/1.1',
  body = '',
) {
  const { responses } = await exchangeRaw(
    gateway.port,
    gateway.raw(requestLine, ['Connection: close', ...lines], body),
  );
  if (responses[0]?.status !== 200) throw new Error(`it was answered ${responses[0]?.status}`);
  return gateway.upstream.seen.at(-1)!;
}

t.test('no identity header of a client’s passes, in any spelling', async (t) => {
  const gateway = await startForwarding(t);
  const spellings = [
    'X-Auth-Subject',
    'x-auth-subject',
    'X-AUTH-SUBJECT',
    'X_Auth_Subject',
    'X-Auth_Subject',
    'X_AUTH-Subject',
    'X.Auth.Subject',
    'X-Auth.Subject',
    'X~Auth~Subject',
    'X|Auth|Subject',
    "X'Auth'Subject",
    'X!Auth!Subject',
    'X#Auth#Subject',
    'X$Auth$Subject',
    'X%Auth%Subject',
    'X&Auth&Subject',
    'X*Auth*Subject',
    'X+Auth+Subject',
    'X^Auth^Subject',
    'X`Auth`Subject',
    'X-Auth-',
    'X-Auth-Roles',
    'X_Auth_Scopes',
    'X-Auth-Tenant',
    'X-Auth-Username',
  ];
  for (const name of spellings) {
    const seen = await passedOn(gateway, [`${name}: evil`]);
    t.notOk(seen.rawHeaders.includes('evil'), name);
    t.equal(seen.values('x-auth-subject').length, 1);
  }
  const seen = await passedOn(gateway, ['X-Authority: a', 'X-Author: b', 'XAuth-Subject: c']);
  for (const value of ['a', 'b', 'c']) t.ok(seen.rawHeaders.includes(value), 'similar names pass');
});

t.test('headers that only Postern may set, and hop-by-hop headers, do not pass', async (t) => {
  const gateway = await startForwarding(t);
  const names = [
    'Proxy',
    'PROXY',
    'Forwarded',
    'X-Real-IP',
    'X_Real_IP',
    'X-Forwarded-For',
    'X_Forwarded_For',
    'X-Forwarded-Proto',
    'X-Forwarded-Host',
    'X-Forwarded-Port',
    'X-Forwarded-Prefix',
    'X-Forwarded_Server',
    'X_Request_Id',
    'X_Api_Key',
    'Content_Length',
    'Transfer_Encoding',
    'Keep-Alive',
    'Proxy-Connection',
    'Proxy-Authorization',
    'TE',
    'Trailer',
    'HTTP2-Settings',
    'Upgrade',
  ];
  for (const name of names) {
    const seen = await passedOn(gateway, [`${name}: evil`]);
    t.notOk(seen.rawHeaders.includes('evil'), name);
  }
});

t.test('headers that Connection names are removed, but none of Postern’s', async (t) => {
  const gateway = await startForwarding(t);
  const connection = 'Connection: X-One,\tx_two , X-Auth-Subject, X-Forwarded-For, X-Request-Id, traceparent';
  const seen = await passedOn(gateway, [connection, 'X-One: a', 'X-Two: b', 'X_TWO: c', 'X-Three: d']);
  for (const name of ['x-one', 'x-two', 'x_two']) t.same(seen.values(name), [], name);
  t.same(seen.values('x-three'), ['d']);
  for (const name of ['x-auth-subject', 'x-forwarded-for', 'x-request-id', 'traceparent'])
    t.equal(seen.values(name).length, 1, name);
});

t.test('own cookies go, other cookies stay byte for byte', async (t) => {
  const gateway = await startForwarding(t);
  const own = gateway.cookie;
  const rows: [string, string[], string[]][] = [
    ['none of our cookies', ['a="x y";b= \xe9;;c'], ['a="x y";b= \xe9;;c']],
    ['our cookie among others', [`a=1; ${own}; b=2`], ['a=1; b=2']],
    ['only our cookie', [own], []],
    ['sign-in cookies', ['a=1;service_refresh_cookie_login_abc-_9=x;b=2'], ['a=1;b=2']],
    ['only a sign-in cookie', ['service_refresh_cookie_login_abcdef=x'], []],
    ['our cookie in another letter case', ['Service_Refresh_Cookie=x'], ['Service_Refresh_Cookie=x']],
    ['our cookie in one of several fields', ['a=1', own, 'b=2'], ['a=1', 'b=2']],
    ['our cookie after a missing name', [`=${own}; a=1`], ['a=1']],
  ];
  for (const [name, sent, kept] of rows) {
    const seen = await passedOn(
      gateway,
      sent.map((value) => `Cookie: ${value}`),
    );
    t.same(
      seen.values('cookie').map((value) => Buffer.from(value, 'latin1').toString('latin1')),
      kept,
      name,
    );
  }
});

t.test('everything else passes unchanged, even bytes above 0x7e', async (t) => {
  const gateway = await startForwarding(t);
  const lines = [
    'accept: */*',
    'X-Odd: "a\xff\tb"',
    'x-odd: c',
    'Empty:',
    'Accept-Encoding: gzip, br',
    'DNT: 1',
  ];
  const { rawHeaders } = await passedOn(gateway, lines);
  const wanted = lines.flatMap((line) => [
    line.slice(0, line.indexOf(':')),
    line.slice(line.indexOf(':') + 1).trim(),
  ]);
  const at = rawHeaders.indexOf('accept');
  t.same(rawHeaders.slice(at, at + wanted.length), wanted);
});

t.test('the upstream gets a single Host and a single framing header', async (t) => {
  const gateway = await startForwarding(t);
  const put = 'PUT /api/store/x HTTP/1.1';
  const withLength = await passedOn(gateway, ['content-LENGTH: 3', 'CONTENT_LENGTH: 7'], put, 'abc');
  t.same(withLength.values('host'), ['gateway.example']);
  t.same(withLength.values('content-length'), ['3']);
  t.same(withLength.values('transfer-encoding'), []);
  t.same(withLength.values('connection').length <= 1, true);
  const chunked = await passedOn(
    gateway,
    ['Transfer-Encoding: Chunked', 'Trailer: X-T'],
    put,
    '1;x="y"\r\na\r\n2\r\nbc\r\n0\r\nX-T: evil\r\nX-Auth-Subject: evil\r\n\r\n',
  );
  t.equal(chunked.body.toString(), 'abc');
  t.same(chunked.values('transfer-encoding'), ['chunked']);
  t.same(chunked.values('content-length'), []);
  t.notOk(chunked.rawHeaders.includes('evil'));
  const none = await passedOn(gateway, ['Content-Length: 0'], put);
  t.ok(none.values('content-length').every((value) => value === '0'));
  t.equal(none.body.length, 0);
});

t.test('the identity of the caller', async (t) => {
  const gateway = await startForwarding(t);
  const byKey = await passedOn(gateway, []);
  t.same(byKey.values('x-auth-username'), ['ada']);
  t.same(byKey.values('x-auth-method'), ['api_key']);
  t.same(byKey.values('x-auth-scopes'), ['apikeys:read store:read store:write']);
  t.same(byKey.values('x-auth-key-id'), [gateway.keyId]);
  t.same(byKey.values('x-auth-session-id'), []);
  t.same(byKey.values('x-auth-tenant'), ['acme']);
  await gateway.api.send({ path: '/api/store/x', bearer: gateway.bearer });
  const bySession = gateway.upstream.seen.at(-1)!;
  t.same(bySession.values('x-auth-subject'), byKey.values('x-auth-subject'));
  t.same(bySession.values('x-auth-method'), ['session']);
  t.match(bySession.values('x-auth-session-id'), [/^[0-9a-f-]{36}$/]);
  t.same(bySession.values('x-auth-key-id'), []);
  const none = await gateway.api.signIn('ada', 'correct horse battery staple', { scope: 'no:such' });
  await gateway.api.send({ path: '/api/x', bearer: none.accessToken });
  t.same(gateway.upstream.seen.at(-1)!.values('x-auth-scopes'), [''], 'present and empty');
});

t.test('the origin of the request', async (t) => {
  const lies = [
    'X-Forwarded-For: 198.51.100.7',
    'X-Forwarded-Proto: https',
    'X-Forwarded-Host: front.example',
  ];
  await t.test('is the peer if no proxy is trusted', async (t) => {
    const seen = await passedOn(await startForwarding(t), [...lies, 'X-Forwarded-Port: 1']);
    t.same(seen.values('x-forwarded-for'), ['127.0.0.1']);
    t.same(seen.values('x-forwarded-proto'), ['http']);
    t.same(seen.values('x-forwarded-host'), ['gateway.example']);
  });
  await t.test('is what a trusted proxy reports, followed by the proxy', async (t) => {
    const gateway = await startForwarding(t, { trusted_proxies: ['127.0.0.0/8', '10.0.0.0/8'] });
    const seen = await passedOn(gateway, [...lies, 'X-Forwarded-For: 10.0.0.9', 'X-Forwarded-Port: 1']);
    t.same(seen.values('x-forwarded-for'), ['198.51.100.7, 10.0.0.9, 127.0.0.1']);
    t.same(seen.values('x-forwarded-proto'), ['https']);
    t.same(seen.values('x-forwarded-host'), ['front.example']);
    t.same(seen.values('x-forwarded-port'), []);
    const line = gateway.logLines().findLast((each) => each.msg === 'request');
    t.equal(line?.address, '198.51.100.7');
    const odd = await passedOn(gateway, ['X_Forwarded_For: 192.0.2.1', 'X-Real-IP: 192.0.2.1']);
    t.same(odd.values('x-forwarded-for'), ['127.0.0.1']);
  });
});

t.test('a well-formed trace is continued', async (t) => {
  const gateway = await startForwarding(t);
  const good = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  const kept = await passedOn(gateway, [`traceparent: ${good}`, 'tracestate: a=b']);
  t.same(kept.values('traceparent'), [good]);
  t.same(kept.values('tracestate'), ['a=b']);
  const made = (await passedOn(gateway, ['traceparent: 00-bad'])).values('traceparent');
  t.match(made, [/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/]);
});
