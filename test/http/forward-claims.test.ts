import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import { addUser } from '../support/administration/accounts.ts';
import type { ApiResponse } from '../support/clients/api-client.ts';
import { connectCheckClient } from '../support/clients/check-client.ts';
import { describingLines, sendQuestion } from '../support/clients/decisions.ts';
import { refreshCookieOf, startProviderGateway, subjectOf } from '../support/gateway/provider-gateway.ts';

const keep = { groups: 'groups', dept: '/org/department', badge: 'badge', active: 'active' };
const told = {
  'X-Groups': 'claim:groups',
  'X-Dept': { from: 'claim:dept', encoding: 'utf8' },
  'X-Dept-Percent': 'claim:dept',
  'X-Badge': 'claim:badge',
  'X-Active': 'claim:active',
  'X-Role': { from: 'claim:groups', first: [{ admins: 'Admin' }, { staff: 'Editor' }], else: 'Viewer' },
  'X-Rank': { from: 'claim:badge', first: [{ '74': 'Officer' }] },
};
const names = Object.keys(told).map((name) => name.toLowerCase());
const utf8 = (text: string) => Buffer.from(text).toString('latin1');

const claims = {
  groups: ['staff', 'a, b', 'Zürich-9f3c'],
  org: { department: 'R&D, Zürich-9f3c' },
  badge: 74,
  active: true,
};
const all = {
  'X-Groups': 'staff,a%2C%20b,Z%C3%BCrich-9f3c',
  'X-Dept': utf8('R&D, Zürich-9f3c'),
  'X-Dept-Percent': 'R&D%2C%20Z%C3%BCrich-9f3c',
  'X-Badge': '74',
  'X-Active': 'true',
  'X-Role': 'Editor',
  'X-Rank': 'Officer',
};
const grants = [{ claim: 'groups', value: 'staff', scopes: ['store:read', 'apikeys:write', 'apikeys:read'] }];

/** Configuration with an echo that is told of claims. */
const config = (changes: object = {}) => ({
  upstreams: { app: { url: 'builtin:echo', identity_headers: told, ...changes } },
  routes: [
    { prefix: '/api/open', upstream: 'app', public: true },
    { prefix: '/api', upstream: 'app' },
  ],
  endpoints: { self: 'own', users: 'own' },
});

/** The headers of claims in a response of the echo. */
function seen({ json }: ApiResponse): Record<string, string> {
  const headers: [string, string][] = json.headers;
  return Object.fromEntries(headers.filter(([name]) => names.includes(name.toLowerCase())));
}

async function scene(t: Test, { idp = {}, ...more }: { idp?: object; [section: string]: unknown } = {}) {
  const gateway = await startProviderGateway(t, { idp: { keep, grants, ...idp } }, { ...config(), ...more });
  const tellOf = async (caller: object, path = '/api/x') => seen(await gateway.api.send({ path, ...caller }));
  return { ...gateway, tellOf };
}

for (const engine of ['built_in', 'node'])
  t.test(
    `what a provider said at the sign-in is told, for as long as the session: engine ${engine}`,
    async (t) => {
      const { signIn, api, advance, tellOf } = await scene(t, { listen: { engine } });
      const response = await signIn(claims);
      t.strictSame(await tellOf({ bearer: response.json.access_token }), all);
      advance(31_000);
      const refreshed = await api.refresh(refreshCookieOf(response));
      t.strictSame(await tellOf({ bearer: refreshed.json.access_token }), all, 'after a refresh');
      const later = await signIn({ groups: ['admins'], badge: '74' });
      t.strictSame(await tellOf({ bearer: later.json.access_token }), {
        'X-Groups': 'admins',
        'X-Badge': '74',
        'X-Role': 'Admin',
        'X-Rank': 'Officer',
      });
      t.strictSame(await tellOf({ bearer: refreshed.json.access_token }), all, 'each session has its own');
      t.strictSame(await tellOf({}, '/api/open/x'), {}, 'of no one nothing, not even else');
      const forged = await api.send({
        path: '/api/x',
        bearer: later.json.access_token,
        headers: { 'X-Dept': 'forged', x_dept: 'forged' },
      });
      t.notMatch(JSON.stringify(seen(forged)), 'forged');
    },
  );

t.test('a key, a password and a restricted session have none', async (t) => {
  const { signIn, api, folder, tellOf } = await scene(t);
  const response = await signIn(claims);
  const bearer = response.json.access_token;
  const { key } = await api.mintKey(bearer, { label: 'k', scopes: ['store:read'] });
  t.strictSame(await tellOf({ apiKey: key }), { 'X-Role': 'Viewer' }, 'a key minted in the session');
  await addUser(folder, { username: 'local', password: 'nanoseconds are this long' });
  const { accessToken } = await api.signIn('local', 'nanoseconds are this long');
  t.strictSame(await tellOf({ bearer: accessToken }), { 'X-Role': 'Viewer' });
  const sessions = new Database(join(folder, 'sessions.db'));
  sessions.prepare(`UPDATE sessions SET scope = 'store:read' WHERE method = 'idp'`).run();
  sessions.close();
  t.strictSame(await tellOf({ bearer }), { 'X-Role': 'Viewer' }, 'a session that was asked for a scope');
});

t.test('what can not be kept is left out, and the log says so without a value', async (t) => {
  const { signIn, tellOf, logLines } = await scene(t, { idp: { keep: { ...keep, none: 'nothing' } } });
  const { json } = await signIn({
    groups: Array.from({ length: 400 }, (_, index) => `group-9f3c-${index}`),
    org: { department: null },
    badge: 74,
    active: ['x'.repeat(100), { secret: '9f3c' }],
  });
  t.strictSame(await tellOf({ bearer: json.access_token }), {
    'X-Badge': '74',
    'X-Role': 'Viewer',
    'X-Rank': 'Officer',
  });
  const lines = logLines().filter(({ msg }) => msg === 'claim of an identity provider not kept');
  t.match(
    lines.map(({ claim, reason, provider, level }) => [level, provider, claim, reason]),
    [
      ['warn', 'idp', 'active', 'not a value that can be kept'],
      ['warn', 'idp', '/org/department', 'not a value that can be kept'],
      ['warn', 'idp', 'groups', 'no room'],
    ],
  );
  t.equal(lines.length, 3, 'a claim that is not there is not left out');
  t.ok(lines.every(({ request_id }) => typeof request_id === 'string'));
  t.notMatch(JSON.stringify(logLines()), /9f3c/);
});

t.test('claims are in nothing that can be read, and in no assertion', async (t) => {
  const { signIn, api, folder, logLines } = await scene(t, {
    upstreams: { app: { url: 'builtin:echo', identity_headers: told, assertion: {} } },
    idp: {
      keep,
      grants: [{ claim: 'groups', value: 'staff', scopes: ['store:read'], scope_sets: ['administrator'] }],
    },
  });
  const response = await signIn(claims);
  const bearer = response.json.access_token;
  const echo = await api.send({ path: '/api/x', bearer });
  t.strictSame(seen(echo), all);
  const headers = new Map<string, string>(echo.json.headers);
  const assertion = headers.get('X-Auth-Assertion') ?? headers.get('x-auth-assertion');
  const asserted = JSON.parse(Buffer.from(assertion!.split('.')[1]!, 'base64url').toString());
  t.match(asserted, { method: 'session', sub: subjectOf(response) });
  t.notMatch(JSON.stringify(asserted), /9f3c|staff|department/);
  for (const path of ['/api/self', '/api/admin/sessions/', '/api/admin/users/', '/api/admin/audit/']) {
    const shown = await api.send({ path, bearer });
    t.equal(shown.status, 200, path);
    t.notMatch(shown.text, /9f3c|department|sealed/i, path);
  }
  t.notMatch(JSON.stringify(logLines()), /9f3c/);
  const files = ['sessions.db', 'sessions.db-wal'].map((name) =>
    readFileSync(join(folder, name)).toString('latin1'),
  );
  t.notMatch(files.join(''), /9f3c/, 'the store has it encrypted');
  const sessions = new Database(join(folder, 'sessions.db'), { readonly: true });
  t.match(sessions.prepare('SELECT claims FROM sessions').pluck().get(), /^[\w-]{100,}$/);
  sessions.close();
});

t.test('claims that another session has are of no use to a session', async (t) => {
  const { signIn, folder, tellOf } = await scene(t);
  const bearers = [];
  for (const groups of [['staff'], ['admins']]) bearers.push((await signIn({ groups })).json.access_token);
  const sessions = new Database(join(folder, 'sessions.db'));
  const [first, second] = sessions.prepare('SELECT id, claims FROM sessions ORDER BY id').all() as {
    id: string;
    claims: string;
  }[];
  sessions.prepare('UPDATE sessions SET claims = ? WHERE id = ?').run(second!.claims, first!.id);
  sessions.close();
  t.strictSame(await tellOf({ bearer: bearers[0] }), { 'X-Role': 'Viewer' });
  t.match(await tellOf({ bearer: bearers[1] }), { 'X-Groups': 'admins' });
});

t.test('claims count as far as they are configured now', async (t) => {
  const { signIn, tellOf, reload, stub } = await scene(t);
  const common = {
    issuer: stub.origin,
    client_id: 'postern',
    redirect_uri: 'https://acme.example.com/signed-in',
  };
  const { json } = await signIn(claims);
  const caller = { bearer: json.access_token };
  const under = async (providers: object) => {
    await reload({ ...config(), identity_providers: providers });
    return tellOf(caller);
  };
  const other = { ...common, issuer: 'https://login.example.com', keep };
  t.strictSame(await under({ idp: { ...common, keep } }), all);
  t.strictSame(
    await under({ idp: { ...common, keep: { dept: 'department', badge: 'badge' } }, other }),
    { 'X-Badge': '74', 'X-Role': 'Viewer', 'X-Rank': 'Officer' },
    'not a name that is gone, nor one with another claim',
  );
  t.strictSame(await under({ renamed: { ...common, keep } }), { 'X-Role': 'Viewer' }, 'another name');
  t.strictSame(await under({ idp: other }), { 'X-Role': 'Viewer' }, 'another issuer');
  t.strictSame(await under({ idp: { ...common, keep: { ...keep, late: 'badge' } } }), all, 'as before');
});

t.test('a sign-in before a claim was kept has none of it', async (t) => {
  const { signIn, tellOf, reload, stub } = await scene(t, {
    idp: { keep: { badge: 'badge' } },
    upstreams: { app: { url: 'builtin:echo', identity_headers: { 'X-Badge': 'claim:badge' } } },
  });
  const { json } = await signIn(claims);
  const caller = { bearer: json.access_token };
  t.strictSame(await tellOf(caller), { 'X-Badge': '74' });
  const idp = {
    issuer: stub.origin,
    client_id: 'postern',
    redirect_uri: 'https://acme.example.com/in',
    keep,
  };
  await reload({ ...config(), identity_providers: { idp } });
  t.strictSame(await tellOf(caller), { 'X-Badge': '74', 'X-Role': 'Viewer', 'X-Rank': 'Officer' });
  t.strictSame(await tellOf({ bearer: (await signIn(claims)).json.access_token }), all, 'but the next one');
});

t.test('decisions answer the same, and what is left out empty', async (t) => {
  const modes = (['nginx', 'envoy', 'envoy_grpc'] as const).map((mode) => ({ mode, port: 0 }));
  const { signIn, api, decisionPorts } = await scene(t, { forward_auth: modes });
  const bearer = (await signIn(claims)).json.access_token;
  const { key } = await api.mintKey(bearer, { label: 'k', scopes: ['store:read'] });
  const [nginx, envoy, grpc] = decisionPorts;
  const [line, described] = describingLines('nginx', 'GET', '/api/x');
  const ask = (credential: string) => sendQuestion(nginx!, line, ['Host: a', credential, ...described]);
  const answer = await ask(`Authorization: Bearer ${bearer}`);
  for (const [name, value] of Object.entries(all))
    t.strictSame(answer.values(name.toLowerCase()), [value], name);
  const ofKey = await ask(`X-API-Key: ${key}`);
  for (const name of names)
    t.strictSame(ofKey.values(name), [name === 'x-role' ? 'Viewer' : ''], `${name} of a key`);
  const ofNoOne = await sendQuestion(nginx!, line.replace('/api/x', '/api/open/x'), [
    'Host: a',
    ...describingLines('nginx', 'GET', '/api/open/x')[1],
  ]);
  for (const name of names) t.strictSame(ofNoOne.values(name), [''], `${name} of no one`);

  const [envoyLine] = describingLines('envoy', 'GET', '/api/x');
  const set = await sendQuestion(envoy!, envoyLine, ['Host: a', `Authorization: Bearer ${bearer}`]);
  t.strictSame(set.values('x-dept'), [all['X-Dept']]);
  const { check } = connectCheckClient(t, grpc!);
  const { headers } = await check({ path: '/api/x', headers: { authorization: `Bearer ${bearer}` } });
  t.match(headers, { 'x-dept': claims.org.department, 'x-groups': all['X-Groups'] });
});
