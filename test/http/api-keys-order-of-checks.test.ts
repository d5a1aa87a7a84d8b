import t from 'tap';
import { keysPath, startKeyAdministration } from '../support/administration/key-administration.ts';
import { startUserAdministration } from '../support/administration/user-administration.ts';
import type { ApiRequest, ApiResponse } from '../support/clients/api-client.ts';

const unknownId = '0190a3a0-0000-7000-8000-000000000000';
const realm = 'Bearer realm="acme"';

interface Row {
  readonly name: string;
  readonly request: ApiRequest;
  readonly status: number;
  readonly code: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly detail?: string;
}

function refused(response: ApiResponse, { status, code, headers = {}, detail }: Row): object {
  const { json } = response;
  return {
    status: [response.status, status],
    code: [json.code, code],
    headers: [Object.keys(headers).map((name) => response.headers[name]), Object.values(headers)],
    detail: [detail ?? json.detail, json.detail],
    id: [json.request_id, response.headers['x-request-id']],
    members: [Object.keys(json), ['detail', 'code', 'request_id']],
    cache: [response.headers['cache-control'], 'no-store'],
    challenged: [response.headers['www-authenticate'] !== undefined, status === 401 || status === 403],
  };
}

t.test('the earlier of two reasons to refuse is reported', async (t) => {
  const { api, mint, asAdministrator } = await startKeyAdministration(t);
  const { key: reader } = await mint({ scopes: ['apikeys:read'] });
  const expires = new Date(Date.now() + 3_600_000).toISOString();
  const later = new Date(Date.now() + 7_200_000).toISOString();
  const { key: writer } = await mint({ scopes: ['apikeys:write', 'store:read'], expires });
  const wrongKey = `${writer.slice(0, -1)}${writer.endsWith('0') ? '1' : '0'}`;
  const unchallenged = { 'www-authenticate': realm };
  const post = (json: unknown, more: Partial<ApiRequest>, query = ''): ApiRequest => ({
    method: 'POST',
    path: keysPath + query,
    json,
    ...more,
  });

  const rows: Row[] = [
    {
      name: 'the method before the credential',
      request: { method: 'PUT', path: keysPath },
      status: 405,
      code: 'method_not_allowed',
      headers: { allow: 'GET, HEAD, POST, OPTIONS' },
    },
    {
      name: 'the declared size before the credential',
      request: post({ label: 'x'.repeat(65_536) }, {}),
      status: 413,
      code: 'body_too_large',
    },
    {
      name: 'no credential before the body',
      request: post({}, {}),
      status: 401,
      code: 'not_authenticated',
      headers: unchallenged,
    },
    {
      name: 'a wrong key before the body',
      request: post({}, { apiKey: wrongKey }),
      status: 401,
      code: 'invalid_api_key',
      headers: { 'www-authenticate': `${realm}, error="invalid_token"` },
    },
    {
      name: 'a wrong key before the id',
      request: { path: keysPath + unknownId, apiKey: wrongKey },
      status: 401,
      code: 'invalid_api_key',
    },
    {
      name: 'a missing scope before the body',
      request: post({}, { apiKey: reader }),
      status: 403,
      code: 'insufficient_scope',
      detail: 'Missing scope: apikeys:write',
      headers: { 'www-authenticate': `${realm}, error="insufficient_scope", scope="apikeys:write"` },
    },
    {
      name: 'a missing scope before the query',
      request: { path: `${keysPath}?size=0`, apiKey: writer },
      status: 403,
      code: 'insufficient_scope',
      detail: 'Missing scope: apikeys:read',
      headers: { 'www-authenticate': `${realm}, error="insufficient_scope", scope="apikeys:read"` },
    },
    {
      name: 'a missing scope before the id',
      request: { method: 'DELETE', path: keysPath + unknownId, apiKey: reader },
      status: 403,
      code: 'insufficient_scope',
    },
    {
      name: 'the query before the id of what is read',
      request: { path: `${keysPath}${unknownId}?hydrate=x`, ...asAdministrator },
      status: 422,
      code: 'validation_error',
    },
    {
      name: 'the query before the id of what is deleted',
      request: { method: 'DELETE', path: `${keysPath}${unknownId}?children=x`, ...asAdministrator },
      status: 422,
      code: 'validation_error',
    },
    {
      name: 'the query before the cursor',
      request: { path: `${keysPath}?cursor=x&size=101`, ...asAdministrator },
      status: 422,
      code: 'validation_error',
    },
    {
      name: 'an unknown set before a scope that is not held',
      request: post({ label: 'a', scopes: ['store:write'], scope_sets: ['nowhere'] }, { apiKey: writer }),
      status: 422,
      code: 'validation_error',
    },
    {
      name: 'a malformed field before a scope that is not held and a late expiry',
      request: post({ label: '', scopes: ['store:write'], expires: later }, { apiKey: writer }),
      status: 422,
      code: 'validation_error',
    },
    {
      name: 'an id that is invalid',
      request: { path: keysPath + unknownId, ...asAdministrator },
      status: 404,
      code: 'not_found',
      detail: 'Not found',
    },
    {
      name: 'all scopes that are missing, and all that are needed',
      request: post({ label: 'a', scopes: ['users:read', 'store:write', 'store:read'] }, { apiKey: writer }),
      status: 403,
      code: 'insufficient_scope',
      detail: 'Missing scope: store:write users:read',
      headers: {
        'www-authenticate': `${realm}, error="insufficient_scope", scope="apikeys:write store:read store:write users:read"`,
      },
    },
  ];
  for (const row of rows) {
    const found = refused(await api.send(row.request), row);
    for (const [what, [is, expected]] of Object.entries(found))
      t.strictSame(is, expected, `${row.name}: ${what}`);
  }
});

t.test('each call requires its one scope', async (t) => {
  const { call, ask, mint } = await startKeyAdministration(t);
  const { id } = await mint();
  const reader = { apiKey: (await mint({ scopes: ['apikeys:read'] })).key };
  const writer = { apiKey: (await mint({ scopes: ['apikeys:write'] })).key };
  const outsider = { apiKey: (await mint({ scopes: ['store:read', 'users:write', 'audit:read'] })).key };
  const rows = [
    ['GET', '', 200, 403],
    ['HEAD', '', 200, 403],
    ['GET', 'filters', 200, 403],
    ['GET', 'scopes', 403, 200],
    ['GET', id, 200, 403],
    ['DELETE', id, 403, 204],
  ] as const;
  for (const [method, path, forReader, forWriter] of rows) {
    const name = `${method} ${path}`;
    t.equal((await call(method, path, outsider)).status, 403, `${name} without either`);
    t.equal((await call(method, path, reader)).status, forReader, `${name} with apikeys:read`);
    t.equal((await call(method, path, writer)).status, forWriter, `${name} with apikeys:write`);
  }
  const body = { label: 'a', scopes: ['apikeys:write'] };
  t.equal((await ask(body, reader)).status, 403);
  t.equal((await ask(body, writer)).status, 201);
});

t.test('the rights of a new key are checked before its user’s state', async (t) => {
  const { create, mint, users } = await startUserAdministration(t);
  const { id } = await create('grace', { scopes: ['store:read'] });
  await users('PATCH', id, { disabled: true });
  const scopes = ['users:write', 'apikeys:write', 'store:read'];
  const { key: apiKey } = await mint({ scopes, expires: new Date(Date.now() + 3_600_000).toISOString() });
  const mintFor = (body: object) =>
    users('POST', `${id}/api-keys`, { label: 'k', scopes: ['store:read'], ...body }, { apiKey });
  t.match(await mintFor({ expires: null }), { status: 403, json: { code: 'expiry_exceeds_caller' } });
  t.match(await mintFor({}), { status: 409, json: { code: 'conflict' } });
});
