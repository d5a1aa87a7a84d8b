import t from 'tap';
import { connectCheckClient } from '../support/clients/check-client.ts';
import { httpModes, startDeciding } from '../support/clients/decisions.ts';

const routes = [
  { prefix: '/api/open', upstream: 'none', public: true },
  { prefix: '/api/cors', upstream: 'none', preflight: 'upstream' },
  { prefix: '/api', upstream: 'none' },
];
const own = 'service_refresh_cookie';
const copying = httpModes.filter((mode) => mode !== 'envoy');
/** What a client sends, each line by itself, and what the service may see of it. */
const rows: [lines: string[], answered: string][] = [
  [[], ''],
  [['a=1; b=2'], 'a=1; b=2'],
  [[`${own}=x`], ''],
  [[`a=1; ${own}=x; b=2`], 'a=1; b=2'],
  [[`__Host-${own}_web=x; a=1`], 'a=1'],
  [[`a=1; ${own}_login_abcdef=x`], 'a=1'],
  [['a=1', 'b=2'], 'a=1; b=2'],
  [['a=1', `${own}=x`], 'a=1'],
  [[`${own}=x`, `${own}=y`], ''],
  [['a="\xe9,;" ;  b=\xc3\xa9=='], 'a="\xe9,;" ;  b=\xc3\xa9=='],
  [[`a=1,${own}=x`], `a=1,${own}=x`],
];
const preflight = ['Origin: https://a.example', 'Access-Control-Request-Method: PUT'];
const cookieLines = (values: readonly string[]) => values.map((value) => `Cookie: ${value}`);

t.test('every allowed request is answered with the cookies that the service may see', async (t) => {
  const { ask, key } = await startDeciding(t, { routes, web: {} });
  for (const mode of copying) {
    for (const [values, answered] of rows)
      for (const [target, lines] of [
        ['/api/open', []],
        ['/api/x', [`X-API-Key: ${key}`]],
      ] as const) {
        const answer = await ask(mode, { target, lines: [...lines, ...cookieLines(values)] });
        t.equal(answer.status, 200);
        t.strictSame(answer.values('cookie'), [answered], `${mode} ${target} ${values.join(' | ')}`);
        t.strictSame(answer.values('x-auth-assertion'), [''], 'without a configured one, too');
      }
    const lines = [...preflight, 'Cookie: a=1'];
    const asked = await ask(mode, { method: 'OPTIONS', target: '/api/cors', lines });
    t.equal(asked.status, 200, mode);
    t.strictSame(asked.values('cookie'), [''], `${mode}: none on a preflight`);
    const refused = await ask(mode, { target: '/api/x', lines: ['Cookie: a=1'] });
    t.strictSame(refused.values('cookie'), [], `${mode}: none in a refusal`);
  }
});

t.test('beside a proof of the answer, too', async (t) => {
  const { ask } = await startDeciding(t, { routes }, { assertion: { audience: 'shop' } });
  for (const mode of copying) {
    const answer = await ask(mode, { target: '/api/open', lines: [`Cookie: a=1; ${own}=x`] });
    t.strictSame(answer.values('cookie'), ['a=1'], mode);
    t.match(answer.values('x-auth-assertion'), [/^ey/], mode);
  }
});

t.test('no cookie is answered if the gateway drops them all', async (t) => {
  const { ask } = await startDeciding(t, { routes, headers: { drop: ['Cookie'] } });
  for (const mode of copying) {
    const answer = await ask(mode, { target: '/api/open', lines: ['Cookie: a=1'] });
    t.equal(answer.status, 200);
    t.strictSame(answer.values('cookie'), [''], mode);
  }
  const { values } = await ask('envoy', { target: '/api/open', lines: ['Cookie: a=1'] });
  t.strictSame(values('cookie'), []);
  t.match(values('x-envoy-auth-headers-to-remove'), [/\bcookie\b/]);
});

t.test(
  'envoy is told of cookies only where they change, and removes the header where none is left',
  async (t) => {
    const { ask, portOf } = await startDeciding(t, { routes });
    const { check } = connectCheckClient(t, portOf('envoy_grpc'));
    const changed: [lines: string[], answered: string | undefined, removed: boolean][] = [
      [[], undefined, false],
      [['a=1; b=2'], undefined, false],
      [['a=1', 'b=2'], undefined, false],
      [[`a=1; ${own}=x`], 'a=1', false],
      [['a=1', `${own}=x`], 'a=1', false],
      [[`a=1,${own}=x`], 'a=1', false],
      [[`${own}=x`], undefined, true],
    ];
    for (const [values, answered, removed] of changed) {
      const what = values.join(' | ');
      const overHttp = await ask('envoy', { target: '/api/open', lines: cookieLines(values) });
      t.equal(overHttp.values('cookie')[0], answered, what);
      const list = overHttp.values('x-envoy-auth-headers-to-remove').join();
      t.equal(list.split(',').includes('cookie'), removed, what);
      const headerMap = values.map((value) => ['cookie', value] as const);
      const byGrpc = await check({ path: '/api/open', headerMap: [[':path', '/api/open'], ...headerMap] });
      t.equal(byGrpc.headers.cookie, answered, what);
      t.equal(byGrpc.removed.includes('cookie'), removed, what);
    }
    const lines = [...preflight, 'Cookie: a=1'];
    const overHttp = await ask('envoy', { method: 'OPTIONS', target: '/api/cors', lines });
    t.equal(overHttp.status, 200);
    t.strictSame(overHttp.values('cookie'), []);
    t.match(overHttp.values('x-envoy-auth-headers-to-remove'), [/\bcookie\b/], 'none on a preflight');
    const headers = { origin: 'https://a.example', 'access-control-request-method': 'PUT', cookie: 'a=1' };
    const byGrpc = await check({ method: 'OPTIONS', path: '/api/cors', headers });
    t.ok(byGrpc.allowed);
    t.notOk('cookie' in byGrpc.headers);
    t.ok(byGrpc.removed.includes('cookie'), 'none on a preflight');
  },
);
