import { createHash, createHmac } from 'node:crypto';
import { join } from 'node:path';
import t from 'tap';
import { connectCheckClient } from '../support/clients/check-client.ts';
import { httpModes, startDeciding } from '../support/clients/decisions.ts';

const routes = [
  { prefix: '/api/open', upstream: 'none', public: true },
  { prefix: '/api', upstream: 'none' },
];
const secret = 's'.repeat(32);

const partsOf = (token: string) => token.split('.').map((part) => Buffer.from(part, 'base64url').toString());
const hashOf = (target: string) => createHash('sha256').update(target).digest('base64url');

t.test('an answer can carry its proof', async (t) => {
  const folder = t.testdir({ secret });
  const assertion = { audience: 'shop', algorithm: 'HS256', secret: { file: join(folder, 'secret') } };
  const { ask, portOf, key, keyId } = await startDeciding(t, { routes }, { assertion });
  for (const mode of httpModes) {
    const lines = [`X-API-Key: ${key}`, 'X-Request-Id: r-1', 'X-Auth-Assertion: forged'];
    const answer = await ask(mode, { method: 'PUT', target: '/api/x?q=1', lines });
    const [token = '', ...others] = answer.values('x-auth-assertion');
    t.strictSame(others, [], mode);
    const [header, claims] = partsOf(token);
    t.match(JSON.parse(header!), { alg: 'HS256', typ: 'postern-assertion+jwt' });
    t.match(JSON.parse(claims!), {
      aud: 'shop',
      htm: 'PUT',
      htt: hashOf('/api/x?q=1'),
      request_id: 'r-1',
      key_id: keyId,
      method: 'api_key',
    });
    const [signed, signature] = [
      token.slice(0, token.lastIndexOf('.')),
      token.slice(token.lastIndexOf('.') + 1),
    ];
    t.equal(createHmac('sha256', secret).update(signed).digest('base64url'), signature);

    const nobody = await ask(mode, { target: '/api/open' });
    t.notOk('sub' in JSON.parse(partsOf(nobody.values('x-auth-assertion')[0]!)[1]!), 'also without a caller');
    t.notOk(nobody.values('x-envoy-auth-headers-to-remove').join().includes('x-auth-assertion'));
    t.strictSame(
      (await ask(mode, { target: '/api/x' })).values('x-auth-assertion'),
      [],
      'none for a refusal',
    );
  }
  const { check } = connectCheckClient(t, portOf('envoy_grpc'));
  const { headers } = await check({ path: '/api/x', headers: { 'x-api-key': key } });
  t.match(JSON.parse(partsOf(headers['x-auth-assertion']!)[1]!), { aud: 'shop', htt: hashOf('/api/x') });
});

t.test('by a key pair, which is made where only a listener signs', async (t) => {
  const { ask, api } = await startDeciding(t, { routes }, { assertion: { audience: 'shop' } });
  const [token = ''] = (await ask('nginx', { target: '/api/open' })).values('x-auth-assertion');
  const { kid } = JSON.parse(partsOf(token)[0]!);
  const { json } = await api.send({ path: '/.well-known/postern-assertion-jwks.json' });
  t.ok(json.keys.some((published: { kid: string }) => published.kid === kid));
});
