import { readFileSync } from 'node:fs';
import t, { type Test } from 'tap';
import type { ApiRequest, ApiResponse } from '../support/clients/api-client.ts';
import { administrator, bootstrapToken } from '../support/gateway/gateway.ts';
import { startProviderGateway } from '../support/gateway/provider-gateway.ts';

const guide = readFileSync(new URL('../../docs/differences.md', import.meta.url), 'utf8');
/** First cells of the tables' rows. */
const documented = [...guide.matchAll(/^\| (?!what a client|---)([^|]+) \|/gm)].map(([, label]) => label!);

const { username, password } = administrator;
const login = '/api/login/access-token';
const refresh = '/api/login/refresh-token';
const logout = '/api/logout';
const keys = '/api/admin/api-keys/';
const multipart = ['username', 'password']
  .map((name) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\nada\r\n`)
  .join('');

type Expected = readonly [status: number, body?: object];

/** One administrator's session, their keys, and what the upstream saw last. */
async function startDifferences(t: Test) {
  const gateway = await startProviderGateway(t);
  await gateway.api.activate(username, password, bootstrapToken);
  const { accessToken: bearer, cookie } = await gateway.api.signIn(username, password);
  const key = (await gateway.api.mintKey(bearer, { label: 'all', scopes: ['apikeys:write', 'store:read'] }))
    .key;
  const start = await gateway.api.send({ path: '/api/login/idp/start' });
  const nonce = new URL(start.json.url).searchParams.get('nonce');
  return { ...gateway, bearer, cookie, key, assertion: gateway.assertion({ nonce }) };
}

type Differences = Awaited<ReturnType<typeof startDifferences>>;

/** What is sent for a row, and the status and body that it must get. */
function rowsOf({
  bearer,
  cookie,
  key,
  assertion,
}: Differences): Record<string, readonly [ApiRequest, Expected]> {
  const mint = (json: object) => ({ method: 'POST', path: keys, bearer, json });
  const signIn = (more: Partial<ApiRequest>) => ({ method: 'POST', path: login, ...more });
  const form = { username, password };
  const missing = { detail: [{ type: 'missing' }, { type: 'missing' }] };
  const foreign = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
  const everything = /apikeys:read .* users:write/;
  return {
    'sends the login as JSON': [signIn({ json: form }), [422, missing]],
    'sends the login as multipart': [
      signIn({
        headers: { 'content-type': 'multipart/form-data; boundary=b' },
        body: `${multipart}--b--\r\n`,
      }),
      [422, missing],
    ],
    'logs in without `scope`': [signIn({ form }), [200, { scope: everything }]],
    'logs in with a scope the user does not hold': [
      signIn({ form: { ...form, scope: 'store:read flying' } }),
      [200, { scope: 'store:read' }],
    ],
    'logs in from a foreign page': [signIn({ form, headers: foreign }), [403, { code: 'cross_site' }]],
    'gives a wrong password': [
      signIn({ form: { ...form, password: 'wrong' } }),
      [401, { code: 'invalid_credentials', error: 'invalid_grant' }],
    ],
    'refreshes without a cookie or with a broken one': [
      { method: 'POST', path: refresh, cookie: 'service_refresh_cookie=x' },
      [401, { code: 'invalid_refresh_token' }],
    ],
    'calls `start` without keeping its cookie': [
      { method: 'POST', path: '/api/login/idp/exchange', form: { assertion } },
      [401, { code: 'invalid_assertion' }],
    ],
    'signs out by the cookie alone from another site': [
      { path: logout, cookie, headers: { 'sec-fetch-site': 'cross-site' } },
      [401, { code: 'not_authenticated' }],
    ],
    'signs out as a prefetch': [
      { path: logout, bearer, headers: { 'sec-purpose': 'prefetch' } },
      [403, { code: 'prefetch' }],
    ],
    'signs out by HEAD': [{ method: 'HEAD', path: logout, bearer }, [405]],
    'signs out by POST': [{ method: 'POST', path: logout, bearer }, [405]],

    'sends a bearer token and an API key': [
      { path: '/api/x', bearer, apiKey: key },
      [400, { code: 'ambiguous_credentials' }],
    ],
    'sends an API key as bearer': [{ path: '/api/x', bearer: key }, [401, { code: 'invalid_token' }]],
    'sends a bad token with a refresh': [{ method: 'POST', path: refresh, cookie, bearer: 'bad' }, [200]],
    'sends a token in the query': [{ path: `/api/x?access_token=${bearer}` }, [401]],
    'mints a key with scopes beyond its own': [
      { method: 'POST', path: keys, apiKey: key, json: { label: 'more', scopes: ['store:write'] } },
      [403, { code: 'insufficient_scope' }],
    ],

    'sends an unknown member in a JSON body': [
      mint({ label: 'a', scopes: ['store:read'], expiry: null }),
      [422, { detail: [{ type: 'extra_forbidden' }] }],
    ],
    'sends an unknown query parameter to a list, a write or a delete': [
      { path: `${keys}?lable__eq=a`, bearer },
      [422, { detail: [{ type: 'extra_forbidden' }] }],
    ],
    'sends a query parameter twice': [{ path: `${keys}?size=1&size=2`, bearer }, [422]],
    'sends a blank query parameter': [{ path: `${keys}?cursor=`, bearer }, [200]],
    'sends a member twice': [
      {
        ...mint({}),
        json: undefined,
        headers: { 'content-type': 'application/json' },
        body: '{"label":"a","label":"b","scopes":["store:read"]}',
      },
      [422, { detail: [{ type: 'json_invalid' }] }],
    ],
    'reads `input` of a refused password': [
      {
        method: 'POST',
        path: '/api/bootstrap/activate',
        json: { token: bootstrapToken, username: 'bob', password: 'short' },
      },
      [422, { detail: [{ loc: ['body', 'password'], input: null }] }],
    ],
    'adds or leaves out one trailing slash': [{ path: keys.slice(0, -1), bearer }, [200]],
    'reads an error': [
      { path: '/api/x' },
      [401, { detail: 'Not authenticated', code: 'not_authenticated', request_id: /./ }],
    ],

    'requests a path with `//`': [{ path: '/api//x', bearer }, [400]],
    'requests a path with an encoded slash': [{ path: '/api/a%2Fb', bearer }, [400]],
    'requests a path with an encoded letter or `~`': [{ path: '/api/%7Eada', bearer }, [400]],
    'sends `X-Auth-Subject`': [{ path: '/api/x', bearer, headers: { 'X_Auth-Subject': 'evil' } }, [200]],
    'sends a header with an underscore': [{ path: '/api/x', bearer, headers: { x_custom: 'evil' } }, [200]],
    'sends `X-HTTP-Method-Override`': [
      { path: '/api/x', bearer, headers: { 'x-http-method-override': 'evil' } },
      [200],
    ],
    'sends a preflight without `cors.origins`': [
      { method: 'OPTIONS', path: '/api/x', headers: { ...foreign, 'access-control-request-method': 'GET' } },
      [401],
    ],
    'sends `Authorization: Basic`': [{ path: '/api/x', headers: { authorization: 'Basic YTpi' } }, [401]],
    // The last, for it ends the session.
    'uses an old token after signing out': [{ path: logout, bearer }, [200]],
  };
}

t.test('every documented difference is as documented', async (t) => {
  const differences = await startDifferences(t);
  const { api, upstream, bearer } = differences;
  const rows = rowsOf(differences);
  t.strictSame(Object.keys(rows).sort(), documented.sort(), 'each row is checked, and documented');
  for (const [label, [request, [status, body = {}]]] of Object.entries(rows)) {
    const response: ApiResponse = await api.send(request);
    t.match({ status: response.status, body: response.json ?? {} }, { status, body }, label);
  }
  t.equal((await api.send({ path: '/api/x', bearer })).status, 401, 'the old token');
  t.ok(upstream.seen.length > 0);
  for (const { rawHeaders } of upstream.seen) t.notOk(rawHeaders.includes('evil'), rawHeaders.join());
});
