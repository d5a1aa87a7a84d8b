import type { Test } from 'tap';
import { startUserAdministration } from '../support/administration/user-administration.ts';
import type { ApiRequest } from '../support/clients/api-client.ts';
import { administrator } from '../support/gateway/gateway.ts';
import { testOnEveryStore } from '../support/stores/every-store.ts';
import type { StoresConfig } from '../support/stores/stores-config.ts';

const own = '/api/self/sessions/';
const all = '/api/admin/sessions/';

/** A gateway with an administrator and a user, both signed in, and calls about sessions. */
async function startSessions(t: Test, stores: StoresConfig, config: object = {}) {
  const gateway = await startUserAdministration(t, { ...stores, ...config });
  const { api, asAdministrator, create, signInAs } = gateway;
  const grace = await create('grace', { scopes: ['store:read'] });
  const asGrace = await signInAs('grace');
  const call = (
    method: string,
    path: string,
    caller: Omit<ApiRequest, 'path' | 'method'> = asAdministrator,
  ) => api.send({ method, path, ...caller });
  const list = async (path: string, caller: Omit<ApiRequest, 'path' | 'method'> = asAdministrator) => {
    const response = await call('GET', path, caller);
    if (response.status !== 200) throw new Error(`${path}: ${response.status} ${response.text}`);
    return response.json;
  };
  const isSignedIn = async ({ bearer }: { bearer: string }) =>
    (await call('GET', own, { bearer })).status === 200;
  return { ...gateway, grace, asGrace, sessions: call, list, isSignedIn };
}

const idsOf = ({ items }: { items: { id: string }[] }) => items.map(({ id }) => id);

testOnEveryStore('a session is shown to its user and to administrators', async (t, stores) => {
  const { api, grace, asGrace, list, sessions, administratorId } = await startSessions(t, stores);
  const headers = { 'user-agent': 'x'.repeat(300) };
  const form = { username: 'grace', password: 'a password of the tests', scope: 'store:read apikeys:read' };
  await api.send({ method: 'POST', path: '/api/login/access-token', form, headers });

  const page = await list(own, asGrace);
  t.match(page, { total: 2, previous_page: null, next_page: null });
  const [narrowed, current] = page.items;
  t.same(Object.keys(current), [
    ...['id', 'user', 'created', 'last_used', 'expires', 'method', 'scopes', 'address', 'user_agent'],
    'current',
  ]);
  t.match(current, {
    user: { id: grace.id, username: 'grace' },
    method: 'password',
    scopes: ['store:read'],
    address: '127.0.0.1',
    current: true,
  });
  t.equal(current.created, current.last_used);
  t.ok(Date.parse(current.expires) > Date.parse(current.created));
  t.match(narrowed, { current: false, user_agent: 'x'.repeat(256), scopes: ['store:read'] });
  t.equal((await list(`${own}?hydrate=false`, asGrace)).items[0].user, grace.id);

  t.equal((await list(all)).total, 3);
  t.same(idsOf(await list(`${all}?user__eq=${grace.id}&sort_order=asc`)), [current.id, narrowed.id]);
  t.equal((await list(`${all}?user__eq=nobody`)).total, 0);
  t.same((await sessions('GET', `${all}${current.id}`)).json, { ...current, current: false });
  t.equal((await sessions('GET', `${all}${current.id}/`)).status, 200, 'one trailing slash is the same');
  const mine = await list(`${all}?user__eq=${administratorId}`);
  t.match(mine.items, [{ current: true, user: { username: administrator.username } }]);
  t.equal((await sessions('GET', `${all}nobody`)).json.code, 'not_found');
});

testOnEveryStore('lists are pages by creation or last use, with one range', async (t, stores) => {
  const { api, list, sessions, grace, asGrace, signInAs } = await startSessions(t, stores);
  for (let count = 0; count < 4; count += 1) await signInAs('grace');
  const { cookie } = await api.signIn('grace', 'a password of the tests');
  await api.refresh(cookie);
  const whole = await list(`${all}?user__eq=${grace.id}`);
  t.equal(whole.total, 6);
  const ids: string[] = [];
  let cursor = '';
  do {
    const page = await list(`${all}?user__eq=${grace.id}&size=2&cursor=${cursor}`);
    ids.push(...idsOf(page));
    cursor = page.next_page ?? '';
  } while (cursor !== '');
  t.same(ids, idsOf(whole));
  const created = encodeURIComponent(whole.items[2].created);
  const range = await list(`${own}?created__gte=${created}&method__eq=password`, asGrace);
  t.ok(range.items.every((item: any) => item.created >= whole.items[2].created));
  t.ok(range.total >= 3 && range.total < 6);
  t.equal((await list(`${own}?sort_by=last_used&last_used__lt=2020-01-01T00:00:00Z`, asGrace)).total, 0);
  t.equal((await list(`${all}?method__eq=idp`)).total, 0);

  const refused = await sessions(
    'GET',
    `${all}?last_used__gt=2020-01-01T00:00:00Z&created__lt=2020-01-01T00:00:00Z`,
  );
  t.match(refused, {
    status: 422,
    json: {
      detail: [{ type: 'value_error', loc: ['query', 'last_used__gt'], input: '2020-01-01T00:00:00Z' }],
    },
  });
  t.equal(refused.json.detail.length, 1, 'the other one is that of the sort field');
  for (const query of ['?sort_by=method', '?user__contains=a', '?size=101', '?method__eq=a&method__eq=b'])
    t.equal((await sessions('GET', all + query)).status, 422, query);
  t.equal((await sessions('GET', `${own}?user__eq=${grace.id}`, asGrace)).status, 422);
  t.match(
    (await list(`${all}filters`)).filters.map(({ field }: any) => field),
    ['user', 'method', 'created', 'last_used'],
  );
  t.match((await list(`${own}filters`, asGrace)).sort.fields, ['created', 'last_used']);
});

testOnEveryStore('one ends the own sessions, and no other', async (t, stores) => {
  const gateway = await startSessions(t, stores);
  const { asGrace, asAdministrator, list, sessions, signInAs, isSignedIn } = gateway;
  const [mine] = (await list(own)).items;
  t.match(await sessions('DELETE', own + mine.id, asGrace), { status: 404, json: { code: 'not_found' } });
  t.ok(await isSignedIn(asAdministrator));

  const another = await signInAs('grace');
  const [{ id }] = (await list(own, another)).items;
  const ended = await sessions('DELETE', own + id, asGrace);
  t.match(ended, { status: 204, text: '', setCookies: [] });
  t.notOk(await isSignedIn(another));
  t.equal((await sessions('DELETE', own + id, asGrace)).status, 404);

  const others = [await signInAs('grace'), await signInAs('grace')];
  const withoutOthers = await sessions('DELETE', own, asGrace);
  t.match(withoutOthers, {
    status: 422,
    json: { detail: [{ type: 'missing', loc: ['query', 'others'], input: null }] },
  });
  for (const query of ['?others=false', '?others=', '?others=true&more=1'])
    t.equal((await sessions('DELETE', own + query, asGrace)).status, 422, query);
  t.ok(await isSignedIn(others[0]!));
  t.match(await sessions('DELETE', `${own}?others=true`, asGrace), { status: 204, setCookies: [] });
  for (const other of others) t.notOk(await isSignedIn(other));
  t.ok(await isSignedIn(asGrace));
  t.equal((await sessions('DELETE', `${own}?others=true`, asGrace)).status, 204, 'also where there are none');

  const [current] = (await list(own, asGrace)).items;
  const last = await sessions('DELETE', own + current.id, asGrace);
  t.equal(last.status, 204);
  t.match(last.setCookies, [/^service_refresh_cookie=; .*Max-Age=0/]);
  t.notOk(await isSignedIn(asGrace));
});

testOnEveryStore('keys have no sessions of their own', async (t, stores) => {
  const { keyWith, sessions } = await startSessions(t, stores);
  const key = await keyWith('sessions:read', 'sessions:write');
  for (const [method, path] of [
    ['GET', own],
    ['GET', `${own}filters`],
    ['DELETE', `${own}?others=true`],
    ['DELETE', `${own}x`],
  ] as const)
    t.match(await sessions(method, path, key), { status: 403, json: { code: 'session_required' } }, path);
  t.match(await sessions('GET', own, {}), { status: 401, json: { code: 'not_authenticated' } });
  t.equal((await sessions('GET', all, key)).status, 200, 'but they may administer them');
});

testOnEveryStore('administrators end any session, also of one who holds more', async (t, stores) => {
  const gateway = await startSessions(t, stores);
  const { asGrace, asAdministrator, grace, list, sessions, signInAs, keyWith, isSignedIn, administratorId } =
    gateway;
  const [reader, writer] = [await keyWith('sessions:read'), await keyWith('sessions:write')];
  const [session] = (await list(own, asGrace)).items;
  const needsWrite = {
    status: 403,
    json: { code: 'insufficient_scope', detail: 'Missing scope: sessions:write' },
  };
  for (const path of [session.id, `?user=${grace.id}`, '?all=true'])
    t.match(await sessions('DELETE', all + path, reader), needsWrite, path);
  t.equal((await sessions('GET', all, writer)).status, 403);
  t.equal((await sessions('GET', all, asGrace)).status, 403);
  t.ok(await isSignedIn(asGrace));

  t.equal((await sessions('DELETE', all + session.id, writer)).status, 204);
  t.notOk(await isSignedIn(asGrace));
  t.equal((await sessions('DELETE', all + session.id, writer)).status, 404);

  const again = [await signInAs('grace'), await signInAs('grace')];
  for (const query of ['', '?all=false', '?user=', `?user=${grace.id}&all=true`, '?everyone=true'])
    t.equal((await sessions('DELETE', all + query)).status, 422, query);
  t.equal((await sessions('DELETE', `${all}?user=nobody`, writer)).status, 204);
  for (const each of again) t.ok(await isSignedIn(each));
  t.equal((await sessions('DELETE', `${all}?user=${grace.id}`, writer)).status, 204);
  for (const each of again) t.notOk(await isSignedIn(each));
  t.equal((await sessions('DELETE', `${all}?user=${grace.id}`, writer)).status, 204);

  const back = await signInAs('grace');
  t.ok(await isSignedIn(back), 'who signs in anew is in');
  const notAll = await sessions('DELETE', `${all}?all=true`, writer);
  t.match(notAll, { status: 403, json: { code: 'insufficient_scope' } });
  t.ok(await isSignedIn(back));
  const ended = await sessions('DELETE', `${all}?all=true`);
  t.equal(ended.status, 204);
  t.match(ended.setCookies, [/Max-Age=0/]);
  for (const each of [back, asAdministrator]) t.notOk(await isSignedIn(each));
  const anew = await gateway.api.signIn(administrator.username, administrator.password);
  t.match(await list(all, { bearer: anew.accessToken }), {
    total: 1,
    items: [{ user: { id: administratorId } }],
  });
});

testOnEveryStore('one session more than a user may have ends the one used longest ago', async (t, stores) => {
  const config = { sessions: { max_per_user: 2 } };
  const { asGrace, grace, asAdministrator, list, signInAs, isSignedIn, logLines } = await startSessions(
    t,
    stores,
    config,
  );
  const [first] = (await list(own, asGrace)).items;
  const second = await signInAs('grace');
  t.ok(await isSignedIn(asGrace));
  const third = await signInAs('grace');
  t.notOk(await isSignedIn(asGrace));
  for (const each of [second, third, asAdministrator]) t.ok(await isSignedIn(each));
  t.equal((await list(own, third)).total, 2);
  const revoked = logLines().filter(({ event }) => event === 'session_revoked');
  t.match(revoked, [{ actor: { kind: 'system' }, subject: grace.id, session: first.id }]);
});

testOnEveryStore('ending sessions is audited; a key of the administrators ends all', async (t, stores) => {
  const { api, asGrace, grace, list, sessions, mint, administratorId, logLines } = await startSessions(
    t,
    stores,
  );
  const { key: apiKey, id } = await mint({ scopes: [], scope_sets: ['administrator'] });
  const [hers] = (await list(own, asGrace)).items;
  const [mine] = (await list(own)).items;
  t.equal((await sessions('DELETE', `${all}?user=${grace.id}`)).status, 204);
  t.match(await sessions('DELETE', `${all}?all=true`, { apiKey }), { status: 204, setCookies: [] });
  t.equal((await list(all, { apiKey })).total, 0);
  const events = ['sessions_ended', 'session_revoked', 'all_sessions_ended'];
  const asKey = { user: administratorId, key: id };
  const asSession = { user: administratorId, session: mine.id };
  t.match(
    logLines().filter(({ event }) => events.includes(String(event))),
    [
      { event: 'sessions_ended', actor: asSession, target: { type: 'user', id: grace.id } },
      { event: 'session_revoked', actor: asSession, subject: grace.id, session: hers.id },
      { event: 'all_sessions_ended', actor: asKey, subject: null },
    ],
  );
  const kept = await api.send({ path: '/api/admin/audit/?sort_order=asc&size=100', apiKey });
  const recorded = kept.json.items.map(({ event }: { event: string }) => event);
  t.ok(recorded.includes('sessions_ended') && recorded.includes('all_sessions_ended'));
});
