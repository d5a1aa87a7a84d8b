import t from 'tap';
import { addUser, withRecords } from '../support/administration/accounts.ts';
import { listUsers, removeUser } from '../support/administration/record-changes.ts';
import { administrator, bootstrapToken, startTestGateway } from '../support/gateway/gateway.ts';

const path = '/api/bootstrap/activate';
const { username, password } = administrator;
const good = { token: bootstrapToken, username, password };

t.test('the token makes the first administrator, once', async (t) => {
  const { api, folder } = await startTestGateway(t);
  const activated = await api.send({ method: 'POST', path, json: { ...good, username: '  Ada Lovelace ' } });
  t.equal(activated.status, 201);
  t.same(Object.keys(activated.json), ['id', 'username']);
  t.equal(activated.json.username, 'Ada Lovelace');
  t.equal(activated.headers['cache-control'], 'no-store');
  t.same(activated.setCookies, [], 'it signs nobody in');

  const { accessToken } = await api.signIn('ada lovelace', password);
  t.equal((await api.send({ path: '/api/admin/api-keys/', bearer: accessToken })).status, 200);
  const users = await withRecords(folder, async (records) => listUsers(records));
  t.match(users, [{ id: activated.json.id, scopes: [], scopeSets: ['administrator'], disabled: false }]);

  const again = await api.send({ method: 'POST', path, json: { ...good, username: 'eve' } });
  t.match(again, { status: 409, json: { code: 'already_activated', detail: 'Already activated' } });
  const wrong = await api.send({ method: 'POST', path, json: { ...good, token: 'a wrong token, and late' } });
  t.equal(wrong.status, 409, 'no token is judged any more');
});

t.test('a wrong token is 401 before anything else that may be wrong', async (t) => {
  const { api } = await startTestGateway(t);
  for (const json of [
    { ...good, token: 'not the bootstrap token' },
    { ...good, token: '' },
    { ...good, token: `${bootstrapToken} ` },
    { token: 'not the bootstrap token', username: '', password: 'short', more: true },
    { token: 'not the bootstrap token' },
  ]) {
    const response = await api.send({ method: 'POST', path, json });
    t.match(response, { status: 401, json: { code: 'invalid_bootstrap_token' } }, JSON.stringify(json));
    t.equal(response.headers['www-authenticate'], 'Bearer realm="acme"');
    t.notOk('error' in response.json, 'it is not an OAuth endpoint');
  }
  t.equal((await api.activate(username, password, bootstrapToken)).status, 201);
});

t.test('wrong tokens are throttled per address, and the correct one does not count', async (t) => {
  const login_throttle = { per_address: 3 };
  const { api } = await startTestGateway(t, { config: { login_throttle, trusted_proxies: ['127.0.0.1'] } });
  const send = (json: object, from: string) =>
    api.send({ method: 'POST', path, json, headers: { 'x-forwarded-for': from } });
  const wrong = { ...good, token: 'not the bootstrap token' };
  for (let i = 0; i < 5; i++)
    t.equal((await send({ ...good, password: 'short' }, '192.0.2.1')).status, 422, 'with the right token');
  for (let i = 0; i < 3; i++) t.equal((await send(wrong, '192.0.2.1')).status, 401);
  const throttled = await send(good, '192.0.2.1');
  t.match(throttled, {
    status: 429,
    json: { code: 'too_many_attempts' },
    headers: { 'retry-after': /^\d+$/ },
  });
  t.equal((await send(good, '192.0.2.2')).status, 201);
  t.equal((await send(wrong, '192.0.2.1')).status, 409, 'afterwards there is nothing to guess');
});

const grace = { username: 'grace', password: 'nanoseconds are this long' };

t.test('users who are no administrator leave it open, their removal too', async (t) => {
  const { api, folder } = await startTestGateway(t);
  await addUser(folder, { username: 'nightly', password, kind: 'service' });
  const { id } = await addUser(folder, { ...grace, scopes: ['users:write'] });
  t.equal((await api.activate(username, password, 'not the bootstrap token')).status, 401);
  await withRecords(folder, (records) => removeUser(records, id));
  t.equal((await api.activate(username, password, bootstrapToken)).status, 201);
});

t.test('users of the configuration who are no administrator leave it open', async (t) => {
  const users = { nightly: { kind: 'service' }, grace: { scopes: ['store:read'] } };
  const { api } = await startTestGateway(t, { config: { users } });
  t.equal((await api.activate(username, password, bootstrapToken)).status, 201);
  t.equal((await api.activate('eve', password, bootstrapToken)).status, 409);
});

t.test('an administrator, however created, closes it', async (t) => {
  const { api, folder } = await startTestGateway(t);
  await addUser(folder, { ...grace, scopeSets: ['administrator'] });
  t.equal((await api.activate(username, password, bootstrapToken)).status, 409);
});

t.test('it is closed for good, until a reset opens it with a new token', async (t) => {
  const { api, folder } = await startTestGateway(t);
  await addUser(folder, { ...grace, scopeSets: ['administrator'] });
  t.equal((await api.activate(username, password, bootstrapToken)).status, 409);

  const token = 'the token that a reset has created';
  await withRecords(folder, (records) => records.setBootstrapToken(token, { reset: true }));
  t.equal(
    (await api.activate(username, password, bootstrapToken)).status,
    401,
    'the configured one is spent',
  );
  t.equal((await api.activate(username, password, token)).status, 201);
  t.equal((await api.activate('eve', password, token)).status, 409);
});

t.test('after a reset a taken name is a conflict', async (t) => {
  const { api, folder } = await startTestGateway(t);
  await addUser(folder, { username: 'Ada', password });
  const token = 'the token that a reset has created';
  await withRecords(folder, (records) => records.setBootstrapToken(token, { reset: true }));
  t.match(await api.activate('ADA', password, token), { status: 409, json: { code: 'conflict' } });
  t.equal((await api.activate('eve', password, token)).status, 201);
});

t.test('the area is reserved as a whole, unless an upstream serves it', async (t) => {
  const own = await startTestGateway(t);
  t.match(await own.api.send({ path }), { status: 405, headers: { allow: 'POST, OPTIONS' } });
  t.equal((await own.api.send({ path: '/api/bootstrap' })).status, 404);
  t.equal((await own.api.send({ method: 'POST', path: '/api/bootstrap/other' })).status, 404);
  t.equal(
    (await own.api.send({ method: 'POST', path: `${path}/`, json: good, bearer: 'stale' })).status,
    201,
  );

  const config = {
    endpoints: { bootstrap: 'upstream' },
    routes: [{ prefix: '/api', upstream: 'app', public: true }],
  };
  const upstream = await startTestGateway(t, { config });
  t.equal((await upstream.api.activate(username, password, bootstrapToken)).status, 200);
  t.match(upstream.upstream.seen, [{ method: 'POST', target: path }]);
});
