import t from 'tap';
import { withRecords } from '../support/administration/accounts.ts';
import {
  type KeyAdministration,
  startKeyAdministration,
} from '../support/administration/key-administration.ts';
import { administrator } from '../support/gateway/gateway.ts';
import { testOnEveryStore } from '../support/stores/every-store.ts';

const auditPath = '/api/admin/audit/';

/** Reads the feed from a cursor (or its beginning) to its end: the names of its events, and where it goes on. */
async function follow({ api, asAdministrator }: KeyAdministration, cursor: string | null = null, query = '') {
  const events: any[] = [];
  let gap = false;
  for (let next = cursor; ; ) {
    const at = next === null ? '' : `&cursor=${encodeURIComponent(next)}`;
    const path = `${auditPath}?sort_order=asc&size=2${query}${at}`;
    const { json } = await api.send({ path, ...asAdministrator });
    events.push(...json.items);
    gap ||= json.gap;
    next = json.next_page;
    if (json.items.length === 0) return { events, gap, next: next! };
  }
}

const namesOf = (events: readonly any[]) => events.map(({ event }) => event);

testOnEveryStore('what is changed over HTTP is in the audit, as in the log', async (t, stores) => {
  const gateway = await startKeyAdministration(t, { config: stores });
  const { api, asAdministrator, administratorId, mint, call, logLines } = gateway;
  const key = await mint({ scopes: ['store:read', 'audit:read'] });
  const headers = { 'x-request-id': 'deletion', 'user-agent': `agent ${'x'.repeat(300)}` };
  await api.send({ method: 'DELETE', path: `/api/admin/api-keys/${key.id}`, headers, ...asAdministrator });
  t.equal((await call('DELETE', key.id)).status, 404, 'which leaves no line');

  const { events } = await follow(gateway);
  t.strictSame(namesOf(events), ['user_created', 'login_succeeded', 'api_key_created', 'api_key_deleted']);
  const [activated, signedIn, created, deleted] = events;
  t.match(activated, {
    outcome: 'success',
    actor: { user: null, kind: 'anonymous' },
    target: { type: 'user', id: administratorId },
    changes: { scope_sets: { added: ['administrator'], removed: [] } },
    reason: null,
    user_agent: null,
  });
  t.match(signedIn, {
    outcome: 'success',
    actor: { user: administratorId, kind: 'session', session: /./ },
    changes: null,
  });
  t.strictSame(signedIn.target, { type: 'session', id: signedIn.actor.session });
  t.match(created, {
    actor: { user: administratorId, kind: 'session', session: /./ },
    target: { type: 'api_key', id: key.id },
    changes: { scopes: { added: ['audit:read', 'store:read'], removed: [] } },
  });
  t.match(deleted, { changes: null, request_id: 'deletion' });
  const target = { type: 'api_key', id: key.id, label: key.label };
  t.strictSame([created.target, deleted.target], [target, target], 'its label is kept');
  t.equal(deleted.user_agent.length, 256);
  t.equal(deleted.address, '127.0.0.1');

  const { json: read } = await api.send({ path: auditPath + deleted.id, ...asAdministrator });
  t.strictSame(read, deleted);
  t.equal((await api.send({ path: `${auditPath}nothing`, ...asAdministrator })).json.code, 'not_found');
  for (const { id, time, event, target } of events)
    t.match(
      logLines().filter((line) => line.id === id),
      [{ audit: true, time, event, target }],
      'the same line is in the log',
    );
});

testOnEveryStore('following the next page returns every event once', async (t, stores) => {
  const gateway = await startKeyAdministration(t, { config: stores });
  const { mint, call } = gateway;
  const start = await follow(gateway);
  t.strictSame(namesOf(start.events), ['user_created', 'login_succeeded']);
  const idle = await follow(gateway, start.next);
  t.strictSame(idle.events, [], 'nothing new yet');
  const keys = [await mint(), await mint(), await mint()];
  const more = await follow(gateway, idle.next);
  t.strictSame(
    more.events.map(({ target }) => target.id),
    keys.map(({ id }) => id),
  );
  await call('DELETE', keys[0].id);
  t.strictSame(namesOf((await follow(gateway, more.next)).events), ['api_key_deleted']);
  t.equal(more.gap, false);

  const filtered = await follow(gateway, null, '&event__eq=api_key_deleted');
  t.strictSame(namesOf(filtered.events), ['api_key_deleted']);
  await call('DELETE', keys[1].id);
  t.strictSame(
    (await follow(gateway, filtered.next, '&event__eq=api_key_deleted')).events.map(
      ({ target }) => target.id,
    ),
    [keys[1].id],
    'with filters, too',
  );
});

t.test('a feed that was left for too long says that events are missing', async (t) => {
  const gateway = await startKeyAdministration(t);
  const { mint, api, asAdministrator, folder } = gateway;
  const first = await follow(gateway);
  for (let index = 0; index < 3; index += 1) await mint();
  const kept = await follow(gateway, first.next);
  const keep = (maxEvents: number) =>
    withRecords(folder, (records) => records.pruneAuditEvents({ since: 0, maxEvents }));
  await keep(3);
  t.equal((await follow(gateway, first.next)).gap, false, 'what is gone was read before');
  await keep(1);
  const late = await follow(gateway, first.next);
  t.equal(late.gap, true);
  t.strictSame(late.events, kept.events.slice(2), 'it goes on from the oldest there is');
  t.equal((await follow(gateway, late.next)).gap, false, 'and says so once');
  t.equal((await api.send({ path: `${auditPath}?sort_order=asc`, ...asAdministrator })).json.gap, false);
});

testOnEveryStore('the newest come first, by pages to both sides', async (t, stores) => {
  const { api, asAdministrator, mint } = await startKeyAdministration(t, { config: stores });
  for (let index = 0; index < 4; index += 1) await mint();
  const page = async (query: string) =>
    (await api.send({ path: auditPath + query, ...asAdministrator })).json;
  const first = await page('?size=3');
  t.equal(first.total, 6);
  t.strictSame(namesOf(first.items), ['api_key_created', 'api_key_created', 'api_key_created']);
  t.equal(first.previous_page, null);
  const second = await page(`?size=3&cursor=${first.next_page}`);
  t.strictSame(namesOf(second.items), ['api_key_created', 'login_succeeded', 'user_created']);
  t.equal(second.next_page, null);
  t.strictSame((await page(`?size=3&cursor=${second.previous_page}`)).items, first.items);
  t.strictSame((await page(`?size=3&cursor=${first.current_page_backwards}`)).items, first.items);
  t.equal((await page(`?sort_order=asc&cursor=${first.next_page}`)).code, 'invalid_cursor');
});

t.test('the audit can be read only with its scope', async (t) => {
  const { api, asAdministrator, mint } = await startKeyAdministration(t);
  const [reader, other] = [await mint({ scopes: ['audit:read'] }), await mint({ scopes: ['apikeys:read'] })];
  for (const path of [auditPath, `${auditPath}filters`, `${auditPath}some-id`]) {
    t.equal((await api.send({ path })).status, 401, path);
    t.equal((await api.send({ path, apiKey: other.key })).json.code, 'insufficient_scope', path);
    t.not((await api.send({ path, apiKey: reader.key })).status, 403, path);
    t.equal((await api.send({ method: 'DELETE', path, ...asAdministrator })).status, 405, path);
  }
  t.match((await api.send({ path: `${auditPath}filters`, ...asAdministrator })).json, {
    filters: [
      { field: 'event', type: 'string', operators: ['eq'] },
      { field: 'outcome', values: ['success', 'failure'] },
    ],
    sort: { fields: ['time'] },
  });
  for (const query of ['?outcome__eq=maybe', '?time__gt=yesterday', '?sort_by=event', '?unknown=1'])
    t.equal((await api.send({ path: auditPath + query, ...asAdministrator })).status, 422, query);
});

t.test('an audit that an upstream serves is passed on', async (t) => {
  const { api, upstream } = await startKeyAdministration(t, { config: { endpoints: { audit: 'upstream' } } });
  const { accessToken } = await api.signIn(administrator.username, administrator.password);
  t.equal((await api.send({ path: auditPath, bearer: accessToken })).status, 200);
  t.equal(upstream.seen.at(-1)?.target, auditPath);
});

testOnEveryStore('the label of a key stays with what was done to it, however it goes', async (t, stores) => {
  const config = { ...stores, endpoints: { users: 'own' } };
  const gateway = await startKeyAdministration(t, { config });
  const { api, asAdministrator, administratorId, mint, call, logLines } = gateway;
  const users = (method: string, path: string, body?: object) =>
    api.send({ method, path: `/api/admin/users/${path}`, json: body, ...asAdministrator });
  const all = { scopes: ['apikeys:write', 'store:read'] };
  const labelsOf = async (event: string) =>
    (await follow(gateway, null, `&event__eq=${event}`)).events.map(({ target }) => target.label).sort();

  const parent = await mint({ label: 'parent', ...all });
  await mint({ label: 'child', scopes: ['store:read'] }, { apiKey: parent.key });
  await call('DELETE', `${parent.id}?children=true`);
  t.strictSame(await labelsOf('api_key_deleted'), ['child', 'parent']);

  const { id } = (await users('POST', '', { username: 'grace', ...all })).json;
  for (const label of ['one', 'two'])
    await users('POST', `${id}/api-keys`, { label, scopes: ['store:read'] });
  t.equal((await users('DELETE', `${id}?keys=transfer:${administratorId}`)).status, 204);
  t.strictSame(await labelsOf('api_key_transferred'), ['one', 'two']);
  const { id: other } = (await users('POST', '', { username: 'grace', ...all })).json;
  await users('POST', `${other}/api-keys`, { label: 'hers', scopes: ['store:read'] });
  t.equal((await users('DELETE', other)).status, 204);
  t.strictSame(await labelsOf('api_key_deleted'), ['child', 'hers', 'parent']);
  const logged = logLines().filter(({ event }) => event === 'api_key_deleted');
  t.strictSame(logged.map(({ target }: any) => target.label).sort(), ['child', 'hers', 'parent']);
});
