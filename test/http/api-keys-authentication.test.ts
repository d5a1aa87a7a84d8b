import t from 'tap';
import { createApiKeyAuthenticator } from '../../src/authenticate/api-key.ts';
import { mintApiKey } from '../../src/credentials/api-key.ts';
import { createHoldings } from '../../src/credentials/holdings.ts';
import { startKeyAdministration } from '../support/administration/key-administration.ts';
import { checksumOf, partsOf } from '../support/administration/key-format.ts';
import type { ApiRequest } from '../support/clients/api-client.ts';

const random = (byteCount: number) => new Uint8Array(byteCount).fill(7);
const flip = (text: string) => (text.at(-1) === '0' ? `${text.slice(0, -1)}1` : `${text.slice(0, -1)}0`);

/** Texts that look like the key and are none, by what is wrong with them. */
function misspellings(key: string): [string, string][] {
  const { prefix, random, checksum } = partsOf(key);
  return [
    ['a wrong checksum', flip(key)],
    ['another random part under the same checksum', `${prefix}_${flip(random)}${checksum}`],
    ['no checksum', `${prefix}_${random}`],
    ['upper case', key.toUpperCase()],
    ['a character more', `${key}0`],
    ['a character less', key.slice(0, -1)],
    ['no prefix', `_${random}${checksum}`],
    ['a prefix of 17', `${'p'.repeat(17)}_${random}${checksum}`],
    ['a hyphen for the underscore', `${prefix}-${random}${checksum}`],
    ['a checksum that is 2³² too large', `${prefix}_${random}zzzzzz`],
    ['a short random part with its checksum', `${prefix}_${random.slice(1)}${checksumOf(random.slice(1))}`],
    ['very long', 'a'.repeat(10_000)],
    ['quoted', `"${key}"`],
  ];
}

t.test('a malformed key is refused without asking the store', async (t) => {
  const asked = new Error('the store was asked');
  const touch = () => {
    throw asked;
  };
  const authenticate = createApiKeyAuthenticator({
    records: { version: touch, findApiKeyByHash: touch },
    recentUse: { noteKey: touch, noteSession: touch, flush: touch },
    holdings: createHoldings(new Set(), {}),
    tenant: 'acme',
    verifications: { accepted: 0, refused: 0 },
    now: touch,
  });
  const { raw } = mintApiKey('pst', random);
  t.throws(() => authenticate(raw), asked, 'with a correct checksum: only the store can know');
  for (const [name, text] of misspellings(raw))
    t.throws(() => authenticate(text), { code: 'invalid_api_key' }, name);
});

t.test('a key is read from X-API-Key only, at most once, and validated on every route', async (t) => {
  const { api, mint, upstream, asAdministrator } = await startKeyAdministration(t);
  const { key } = await mint();
  const unknown = mintApiKey('pst', random).raw;
  const path = '/api/store/asset';
  const ofKeys = (...keys: string[]): ApiRequest => ({ path, headers: { 'x-api-key': keys } });
  const challenge = 'Bearer realm="acme"';
  const wrong = [401, 'invalid_api_key', `${challenge}, error="invalid_token"`] as const;
  const absent = [401, 'not_authenticated', challenge] as const;
  const ambiguous = [400, 'ambiguous_credentials', `${challenge}, error="invalid_request"`] as const;
  const rows: [string, ApiRequest, readonly [number, string, string]][] = [
    ['a key that nobody has', ofKeys(unknown), wrong],
    ['blank', ofKeys(''), wrong],
    ['the same key twice', ofKeys(key, key), ambiguous],
    ['two keys in one', ofKeys(`${key}, ${key}`), wrong],
    ['beside a token', { path, apiKey: key, ...asAdministrator }, ambiguous],
    ['beside another scheme', { path, apiKey: key, headers: { authorization: 'Basic eDp5' } }, ambiguous],
    ['as a token', { path, bearer: key }, [401, 'invalid_token', wrong[2]]],
    ['as a scheme of its own', { path, headers: { authorization: `ApiKey ${key}` } }, absent],
    ['in the query', { path: `${path}?api_key=${key}&x-api-key=${key}` }, absent],
    ['in a cookie', { path, cookie: `x-api-key=${key}` }, absent],
    ['in a body', { path, method: 'POST', form: { 'x-api-key': key } }, absent],
    ['in a header with a similar name', { path, headers: { x_api_key: key } }, absent],
    ['wrong on a public route', { path: '/api/open/x', apiKey: unknown }, wrong],
    ...misspellings(key).map(([name, text]): (typeof rows)[number] => [name, ofKeys(text), wrong]),
  ];
  for (const [name, request, expected] of rows) {
    const { status, json, headers } = await api.send(request);
    t.strictSame([status, json.code, headers['www-authenticate']], expected, name);
  }
  t.equal(upstream.seen.length, 0, 'and nothing of it is forwarded');

  t.equal((await api.send(ofKeys(`  ${key}\t`))).status, 200, 'outer blanks are no part of a value');
  t.equal((await api.send({ path: '/api/open/x', apiKey: key })).status, 200);
  t.strictSame(upstream.seen.at(-1)!.values('x-auth-method'), ['api_key'], 'a valid key on a public route');
  const other = { authorization: 'Basic eDp5' };
  t.equal((await api.send({ path: '/api/open/x', apiKey: key, headers: other })).status, 200);
  t.strictSame(upstream.seen.at(-1)!.values('x-auth-method'), ['api_key']);
});

t.test('with api_keys.bearer a key is also accepted as a bearer token, and is still a key', async (t) => {
  const { api, mint, upstream, asAdministrator } = await startKeyAdministration(t, {
    config: { api_keys: { bearer: true } },
  });
  const { key } = await mint({ scopes: ['apikeys:read', 'store:read'] });
  const path = '/api/store/asset';
  t.equal((await api.send({ path, bearer: key })).status, 200);
  const seen = upstream.seen.at(-1)!;
  t.strictSame([seen.values('x-auth-method'), seen.values('authorization')], [['api_key'], []]);
  t.equal((await api.send({ path, headers: { authorization: `bEaReR ${key}` } })).status, 200);
  t.equal((await api.send({ path, apiKey: key })).status, 200);
  t.equal((await api.send({ path, ...asAdministrator })).status, 200, 'and so is a token');
  t.equal((await api.send({ path: '/api/admin/api-keys/', bearer: key })).status, 200);
  t.match(await api.send({ path: '/api/logout', bearer: key }), {
    status: 403,
    json: { code: 'session_required' },
  });
  t.match(await api.send({ path: '/api/logout', bearer: flip(key) }), {
    status: 401,
    json: { code: 'not_authenticated' },
  });
  const protocol = { 'sec-websocket-protocol': `postern.bearer.${key}`, origin: 'https://acme.example.com' };
  const upgrade = {
    connection: 'upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'x',
  };
  t.equal(
    (await api.send({ path, headers: { ...upgrade, ...protocol } })).status,
    401,
    'not as a subprotocol',
  );

  const unknown = mintApiKey('pst', random).raw;
  const challenge = 'Bearer realm="acme", error="invalid_token"';
  const wrong: readonly [string, string][] = [['unknown', unknown], ...misspellings(key)];
  for (const [name, text] of wrong) {
    const { status, headers } = await api.send({ path, headers: { authorization: `Bearer ${text}` } });
    t.strictSame([status, headers['www-authenticate']], [401, challenge], name);
  }
  t.equal((await api.send({ path, apiKey: key, bearer: key })).status, 400);
});

t.test('a route admits the kinds of credential it accepts', async (t) => {
  const routes = [
    { prefix: '/api/people', upstream: 'app', accept: ['session'] },
    { prefix: '/api/machines', upstream: 'app', accept: ['api_key'] },
  ];
  const { api, mint, asAdministrator } = await startKeyAdministration(t, { config: { routes } });
  const { key } = await mint();
  const rows = [
    ['/api/people', { apiKey: key }, 403, 'session_required'],
    ['/api/people', asAdministrator, 200, undefined],
    ['/api/machines', { apiKey: key }, 200, undefined],
    ['/api/machines', asAdministrator, 403, 'api_key_required'],
  ] as const;
  for (const [path, caller, status, code] of rows) {
    const { json, ...response } = await api.send({ path, ...caller });
    t.strictSame([response.status, json.code], [status, code], path);
  }
});
