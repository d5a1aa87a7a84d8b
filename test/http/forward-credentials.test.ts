import t from 'tap';
import { exchangeRaw } from '../support/clients/raw-client.ts';
import { type Forwarding, startForwarding } from '../support/gateway/forwarding.ts';

const challenge = 'Bearer realm="acme"';
const invalid = `${challenge}, error="invalid_token"`;

/** Sends a GET with those header lines and no other credential; `public` names the public route. */
async function call(gateway: Forwarding, lines: readonly string[], path = '/api/store/x') {
  const head = [`GET ${path} HTTP/1.1`, 'Host: a.example', 'Connection: close', ...lines, '', ''];
  const before = gateway.upstream.seen.length;
  const { responses } = await exchangeRaw(gateway.port, head.join('\r\n'));
  const [response] = responses;
  const seen = gateway.upstream.seen.slice(before);
  return {
    status: response?.status,
    code: response?.json.code,
    challenge: response?.values('www-authenticate'),
    seen,
  };
}

t.test('a good credential passes', async (t) => {
  const gateway = await startForwarding(t);
  const { key, bearer } = gateway;
  const rows: Record<string, string> = {
    'a key': `X-API-Key: ${key}`,
    'a key in another case of the name': `x-api-KEY: ${key}`,
    'a key with blanks around it': `X-API-Key:  \t${key} \t`,
    'a token': `Authorization: Bearer ${bearer}`,
    'a token with the scheme in lower case': `authorization: bearer ${bearer}`,
    'a token with the scheme in capitals': `Authorization: BEARER ${bearer}`,
  };
  for (const [name, line] of Object.entries(rows))
    for (const path of ['/api/store/x', '/api/open/x']) {
      const { status, seen } = await call(gateway, [line], path);
      t.equal(status, 200, `${name} on ${path}`);
      t.equal(seen[0]!.values('x-auth-subject').length, 1);
      t.same(seen[0]!.values('authorization'), []);
      t.same(seen[0]!.values('x-api-key'), []);
    }
});

t.test('a wrong credential is refused, never ignored', async (t) => {
  const gateway = await startForwarding(t);
  const { key, bearer } = gateway;
  const rows: [string, string[], number, string, string | null][] = [
    ['nothing', [], 401, 'not_authenticated', challenge],
    ['an empty Authorization', ['Authorization:'], 401, 'not_authenticated', challenge],
    ['another scheme', ['Authorization: Basic YTpi'], 401, 'not_authenticated', challenge],
    ['a token without its scheme', [`Authorization: ${bearer}`], 401, 'not_authenticated', challenge],
    ['a longer scheme', [`Authorization: Bearers ${bearer}`], 401, 'not_authenticated', challenge],
    ['Bearer without a token', ['Authorization: Bearer'], 401, 'invalid_token', invalid],
    ['a token after several spaces', [`Authorization: Bearer   ${bearer}`], 401, 'invalid_token', invalid],
    ['a garbled token', ['Authorization: Bearer a.b.c'], 401, 'invalid_token', invalid],
    ['a token and more', [`Authorization: Bearer ${bearer} x`], 401, 'invalid_token', invalid],
    [
      'two tokens in one field',
      [`Authorization: Bearer ${bearer}, Bearer ${bearer}`],
      401,
      'invalid_token',
      invalid,
    ],
    ['a key instead of a token', [`Authorization: Bearer ${key}`], 401, 'invalid_token', invalid],
    ['an empty key', ['X-API-Key:'], 401, 'invalid_api_key', invalid],
    ['a garbled key', [`X-API-Key: ${key}x`], 401, 'invalid_api_key', invalid],
    ['two keys in one field', [`X-API-Key: ${key}, ${key}`], 401, 'invalid_api_key', invalid],
    ['a token instead of a key', [`X-API-Key: ${bearer}`], 401, 'invalid_api_key', invalid],
  ];
  for (const [name, lines, status, code, wanted] of rows) {
    const response = await call(gateway, lines);
    t.match(response, { status, code, challenge: [wanted], seen: [] }, name);
  }
});

t.test('two credentials are ambiguous, and so is the same one twice', async (t) => {
  const gateway = await startForwarding(t);
  const token = `Authorization: Bearer ${gateway.bearer}`;
  const key = `X-API-Key: ${gateway.key}`;
  const rows: Record<string, string[]> = {
    'a token and a key': [token, key],
    'a key and a token': [key, token],
    'a token twice': [token, token.toLowerCase().replace(/bearer .*/, `Bearer ${gateway.bearer}`)],
    'a key twice': [key, key],
    'a key and an empty one': [key, 'X-API-Key:'],
    'a token and another scheme': [token, 'Authorization: Basic YTpi'],
    'a key and an empty token': [key, 'Authorization: Bearer'],
  };
  for (const [name, lines] of Object.entries(rows))
    for (const path of ['/api/store/x', '/api/open/x'])
      t.match(
        await call(gateway, lines, path),
        {
          status: 400,
          code: 'ambiguous_credentials',
          challenge: [`${challenge}, error="invalid_request"`],
          seen: [],
        },
        `${name} on ${path}`,
      );
  t.match(await call(gateway, [key, 'Authorization: Basic YTpi']), { status: 400, seen: [] });
});

t.test('on a public route Postern’s credentials are checked and other schemes pass', async (t) => {
  const gateway = await startForwarding(t);
  const path = '/api/open/x';
  const nobody = await call(gateway, [], path);
  t.equal(nobody.status, 200);
  const identity = nobody.seen[0]!.rawHeaders.filter((name) => name.toLowerCase().startsWith('x-auth-'));
  t.same(identity, [], 'no identity without a credential');
  const other = await call(gateway, ['Authorization: Basic YTpi'], path);
  t.equal(other.status, 200);
  t.same(other.seen[0]!.values('authorization'), [], 'even so it is not for the upstream');
  t.match(await call(gateway, ['Authorization: Bearer a.b.c'], path), { status: 401, code: 'invalid_token' });
  t.match(await call(gateway, ['X-API-Key: x'], path), { status: 401, code: 'invalid_api_key' });
  t.match(await call(gateway, ['X-API-Key:'], path), { status: 401, code: 'invalid_api_key' });
});

t.test('query, body and cookie hold no credential', async (t) => {
  const gateway = await startForwarding(t);
  const query = `?access_token=${gateway.bearer}&api_key=${gateway.key}`;
  t.match(await call(gateway, [], `/api/store/x${query}`), { status: 401, code: 'not_authenticated' });
  t.match(await call(gateway, [`Cookie: ${gateway.cookie}`]), { status: 401, code: 'not_authenticated' });
  const form = `access_token=${gateway.bearer}`;
  const response = await gateway.api.send({ method: 'POST', path: '/api/store/x', body: form });
  t.equal(response.status, 401);
});
