import t from 'tap';
import { connectCheckClient } from '../support/clients/check-client.ts';
import { httpModes, startDeciding } from '../support/clients/decisions.ts';

const own = { upstream: 'none', authorization: 'pass' };
const routes = [
  { prefix: '/own', ...own },
  { prefix: '/own/free', ...own, public: true },
  { prefix: '/own/cors', ...own, preflight: 'upstream' },
  { prefix: '/api', upstream: 'none' },
];
const aws = 'AWS4-HMAC-SHA256 Credential=a/b, SignedHeaders=host, Signature=c';
const ofApplication = ['Authorization: Token mine', 'X-API-Key: sk-1'];
const preflight = ['Origin: https://a.example', 'Access-Control-Request-Method: PUT'];

t.test('an answer says each time what of Authorization and X-API-Key the service may see', async (t) => {
  const { ask, key, bearer } = await startDeciding(t, { routes, api_keys: { bearer: true } });
  const session = `Authorization: Bearer ${bearer}`;
  const rows: readonly [
    target: string,
    lines: readonly string[],
    seen: readonly [string, string],
    method?: string,
  ][] = [
    ['/own', [`X-API-Key: ${key}`, 'Authorization: Token mine'], ['Token mine', '']],
    ['/own', [session, 'X-API-Key: sk-1'], ['', 'sk-1']],
    ['/own', [session], ['', '']],
    ['/own/free', ofApplication, ['Token mine', 'sk-1']],
    ['/own/free', [`Authorization: ${aws}`], [aws, '']],
    ['/own/free', [], ['', '']],
    ['/own/free', ['Authorization: \xe9'], ['\xe9', '']],
    ['/own/cors', [...preflight, ...ofApplication], ['', ''], 'OPTIONS'],
    ['/api', [session], ['', '']],
    ['/api', [`X-API-Key: ${key}`], ['', '']],
  ];
  for (const mode of httpModes)
    for (const [target, lines, [authorization, apiKey], method] of rows) {
      const answer = await ask(mode, { target, lines, ...(method !== undefined && { method }) });
      const name = `${mode} ${target} ${lines.join(' | ')}`;
      t.equal(answer.status, 200, name);
      const answered = [...answer.values('authorization'), ...answer.values('x-api-key')];
      if (mode !== 'envoy') {
        t.strictSame(answered, [authorization, apiKey], name);
        continue;
      }
      const removed = answer.values('x-envoy-auth-headers-to-remove')[0]!.split(',');
      const isGiven = (header: string) => lines.some((line) => line.startsWith(`${header}:`));
      for (const [header, value] of [
        ['Authorization', authorization],
        ['X-API-Key', apiKey],
      ] as const)
        if (isGiven(header))
          t.equal(removed.includes(header.toLowerCase()), value === '', `${name}, ${header}`);
      for (const value of answered) t.ok(value === authorization || value === apiKey, name);
    }
});

t.test('what is ours is refused where the gateway refuses it, and no answer has it', async (t) => {
  const { ask, key, bearer } = await startDeciding(t, { routes });
  for (const mode of httpModes) {
    for (const [lines, status] of [
      [[`Authorization: Token ${key}`], 401],
      [[`Authorization: Basic ${Buffer.from(`x:${key}`).toString('base64')}`], 401],
      [[`Authorization: Bearer a, Bearer ${bearer}`], 401],
      [[`X-API-Key: ${key}`, `Authorization: Bearer ${bearer}`], mode.endsWith('nginx') ? 403 : 400],
      [['Authorization: a', 'Authorization: b'], mode.endsWith('nginx') ? 403 : 400],
    ] as const) {
      const answer = await ask(mode, { target: '/own/free', lines });
      t.equal(answer.status, status, `${mode} ${lines.length}`);
      t.strictSame(answer.values('authorization'), []);
    }
    const nobody = await ask(mode, { target: '/own', lines: ofApplication });
    t.match(nobody, { status: 401, json: { code: 'not_authenticated' } });
    t.strictSame(nobody.values('www-authenticate'), ['Bearer realm="acme"']);
  }
});

t.test('without such a route neither is answered', async (t) => {
  const { ask, key } = await startDeciding(t, { routes: [{ prefix: '/api', upstream: 'none' }] });
  for (const mode of httpModes) {
    const answer = await ask(mode, { target: '/api', lines: [`X-API-Key: ${key}`] });
    t.strictSame([answer.status, answer.values('authorization'), answer.values('x-api-key')], [200, [], []]);
  }
});

t.test('over gRPC Envoy keeps what is the application’s, and removes the rest', async (t) => {
  const { portOf, key } = await startDeciding(t, { routes });
  const { check } = connectCheckClient(t, portOf('envoy_grpc'));
  const asked = async (path: string, fields: [string, string][]) => {
    const headerMap: [string, string][] = [
      [':method', 'GET'],
      [':path', path],
      [':authority', 'app.example'],
      ...fields,
    ];
    const { allowed, removed, headers } = await check({ path, headerMap });
    const names = ['authorization', 'x-api-key'];
    return { allowed, removed: removed.filter((name) => names.includes(name)), set: headers.authorization };
  };
  t.strictSame(
    await asked('/own', [
      ['x-api-key', key],
      ['authorization', aws],
    ]),
    {
      ...{ allowed: true, removed: ['x-api-key'], set: aws },
    },
  );
  t.strictSame(await asked('/own/free', [['authorization', 'Token \xe9']]), {
    ...{ allowed: true, removed: [], set: undefined },
  });
  t.strictSame(await asked('/api', [['x-api-key', key]]), {
    ...{ allowed: true, removed: ['authorization', 'x-api-key'], set: undefined },
  });
});
