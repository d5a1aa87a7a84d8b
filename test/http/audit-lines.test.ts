import t, { type Test } from 'tap';
import { addUser, changeUser } from '../support/administration/accounts.ts';
import {
  administrator,
  bootstrapToken,
  startTestGateway,
  type TestScope,
} from '../support/gateway/gateway.ts';

const from = '192.0.2.44';
const { username, password } = administrator;
const loginPath = '/api/login/access-token';
const keysPath = '/api/admin/api-keys/';

/** A gateway behind a proxy, and what it wrote about one request with the given id. */
async function startAudited(t: TestScope) {
  const gateway = await startTestGateway(t, { config: { trusted_proxies: ['127.0.0.1'] } });
  const headers = (requestId: string) => ({ 'x-request-id': requestId, 'x-forwarded-for': from });
  const auditOf = (requestId: string) =>
    gateway.logLines().filter((line) => line.audit === true && line.request_id === requestId);
  const activated = await gateway.api.activate(username, password, bootstrapToken);
  const userId: string = activated.json.id;
  return { ...gateway, headers, auditOf, userId, activationId: activated.headers['x-request-id']! };
}

/** A gateway where one failure is all an address has. */
async function startThrottled(t: TestScope) {
  const gateway = await startTestGateway(t, { config: { login_throttle: { per_address: 1 } } });
  return { ...gateway, auditLines: () => gateway.logLines().filter(({ audit }) => audit === true) };
}

/** The whole line, so that nothing else can stand in it. */
function assertLine(t: Test, lines: readonly Record<string, unknown>[], expected: object): void {
  t.equal(lines.length, 1, 'one audit line');
  const { id: _, time, ...line } = lines[0] ?? {};
  t.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  t.same(line, { level: 'info', audit: true, ...expected });
}

const anonymous = { user: null, kind: 'anonymous' };
const bySession = (user: string, session: string | undefined) => ({ user, session, kind: 'session' });
const sessionIdOf = (cookie: string) => cookie.slice(cookie.indexOf('=') + 1).split('.')[0];

t.test('an activation logs the user it created, or its failure', async (t) => {
  const { auditOf, activationId, userId } = await startAudited(t);
  assertLine(t, auditOf(activationId), {
    event: 'user_created',
    outcome: 'success',
    actor: anonymous,
    subject: userId,
    target: { type: 'user', id: userId },
    changes: { scope_sets: { added: ['administrator'], removed: [] } },
    address: '127.0.0.1',
    request_id: activationId,
  });
  const closed = await startTestGateway(t);
  const refused = await closed.api.activate(username, password, 'not the bootstrap token');
  const request_id = refused.headers['x-request-id'];
  assertLine(
    t,
    closed.logLines().filter(({ audit }) => audit === true),
    {
      event: 'activation_failed',
      outcome: 'failure',
      actor: anonymous,
      subject: null,
      address: '127.0.0.1',
      request_id,
    },
  );
});

t.test('a sign-in names the account and the session', async (t) => {
  const { api, auditOf, headers, userId } = await startAudited(t);
  const form = { username, password };
  const { setCookies } = await api.send({ method: 'POST', path: loginPath, form, headers: headers('in-1') });
  assertLine(t, auditOf('in-1'), {
    event: 'login_succeeded',
    outcome: 'success',
    actor: bySession(userId, sessionIdOf(setCookies[0]!)),
    subject: userId,
    session: sessionIdOf(setCookies[0]!),
    target: { type: 'session', id: sessionIdOf(setCookies[0]!) },
    address: from,
    request_id: 'in-1',
  });
});

t.test('a failed sign-in names the account only when it exists', async (t) => {
  const { api, auditOf, headers, userId, logLines, folder } = await startAudited(t);
  const disabled = await addUser(folder, { username: 'grace', password, disabled: true });
  const nobody = 'a password typed as a name';
  const rows = [
    ['wrong', { username, password: 'not the password' }, userId],
    ['spelled', { username: ' ADA ', password: 'not the password' }, userId],
    ['disabled', { username: 'grace', password }, disabled.id],
    ['unknown', { username: nobody, password }, null],
  ] as const;
  for (const [id, form, subject] of rows) {
    await api.send({ method: 'POST', path: loginPath, form, headers: headers(id) });
    assertLine(t, auditOf(id), {
      event: 'login_failed',
      outcome: 'failure',
      actor: anonymous,
      subject,
      address: from,
      request_id: id,
    });
  }
  t.notMatch(JSON.stringify(logLines()), nobody);
  await api.send({ method: 'POST', path: loginPath, form: { username }, headers: headers('422') });
  t.same(auditOf('422'), [], 'an attempt that was never judged is not logged');
});

t.test('reuse of a refresh cookie names the session it ended, once', async (t) => {
  const { api, auditOf, headers, advance, userId } = await startAudited(t);
  const { cookie: first } = await api.signIn(username, password);
  const refresh = (cookie: string, id: string) =>
    api.send({ method: 'POST', path: '/api/login/refresh-token', cookie, headers: headers(id) });
  advance(30_000);
  const second = (await refresh(first, 'rotates')).setCookies[0]!.split(';', 1)[0]!;
  await refresh(second, 'confirms');
  advance(30_000);
  await refresh(first, 'reuse');
  await refresh(second, 'after');
  assertLine(t, auditOf('reuse'), {
    event: 'refresh_token_reused',
    outcome: 'failure',
    actor: { ...anonymous, user: userId },
    subject: userId,
    session: sessionIdOf(first),
    target: { type: 'session', id: sessionIdOf(first) },
    address: from,
    request_id: 'reuse',
  });
  for (const quiet of ['rotates', 'confirms', 'after']) t.same(auditOf(quiet), [], quiet);
});

t.test('a sign-out logs every session it ended', async (t) => {
  const { api, auditOf, headers, userId } = await startAudited(t);
  const [one, two] = [await api.signIn(username, password), await api.signIn(username, password)];
  await api.send({
    path: '/api/logout',
    bearer: one.accessToken,
    cookie: two.cookie,
    headers: headers('out-1'),
  });
  const lines = auditOf('out-1');
  t.equal(lines.length, 2);
  for (const [index, { cookie }] of [one, two].entries())
    assertLine(t, lines.slice(index, index + 1), {
      event: 'session_revoked',
      outcome: 'success',
      actor: bySession(userId, sessionIdOf(one.cookie)),
      subject: userId,
      session: sessionIdOf(cookie),
      target: { type: 'session', id: sessionIdOf(cookie) },
      address: from,
      request_id: 'out-1',
    });
  await api.send({ path: '/api/logout', cookie: two.cookie, headers: headers('out-2') });
  t.same(auditOf('out-2'), [], 'there was nothing to end any more');
});

t.test("the end of a disabled user's session is logged", async (t) => {
  const { api, auditOf, headers, folder } = await startAudited(t);
  const { id } = await addUser(folder, { username: 'grace', password });
  const { cookie } = await api.signIn('grace', password);
  await changeUser(folder, id, { disabled: true });
  await api.send({ method: 'POST', path: '/api/login/refresh-token', cookie, headers: headers('gone') });
  assertLine(t, auditOf('gone'), {
    event: 'session_revoked',
    outcome: 'success',
    actor: { user: null, kind: 'system' },
    subject: id,
    session: sessionIdOf(cookie),
    target: { type: 'session', id: sessionIdOf(cookie) },
    address: from,
    request_id: 'gone',
  });
});

t.test('minting and deleting a key name the key', async (t) => {
  const { api, auditOf, headers, userId } = await startAudited(t);
  const { accessToken: bearer, cookie } = await api.signIn(username, password);
  const actor = bySession(userId, sessionIdOf(cookie));
  const json = { label: 'ci', scopes: ['store:read'] };
  const minted = await api.send({ method: 'POST', path: keysPath, json, bearer, headers: headers('mint') });
  const { id } = minted.json;
  await api.send({ method: 'DELETE', path: `${keysPath}${id}`, bearer, headers: headers('delete') });
  for (const [requestId, event] of [
    ['mint', 'api_key_created'],
    ['delete', 'api_key_deleted'],
  ] as const) {
    t.match(auditOf(requestId), [{ event, outcome: 'success', actor, key: id, address: from }]);
    t.equal(auditOf(requestId).length, 1);
  }
});

t.test('keys that a key mints and deletes are logged under that key', async (t) => {
  const { api, auditOf, headers, userId } = await startAudited(t);
  const { accessToken } = await api.signIn(username, password);
  const parent = await api.mintKey(accessToken, { label: 'parent', scopes: ['apikeys:write'] });
  const actor = { user: userId, key: parent.id, kind: 'api_key' };
  const json = { label: 'child', scopes: ['apikeys:write'] };
  const apiKey = parent.key;
  const minted = await api.send({ method: 'POST', path: keysPath, json, apiKey, headers: headers('mint') });
  const { id } = minted.json;
  await api.send({ method: 'DELETE', path: `${keysPath}${id}`, apiKey, headers: headers('delete') });
  t.match(auditOf('mint'), [{ event: 'api_key_created', actor, subject: userId, key: id }]);
  t.match(auditOf('delete'), [{ event: 'api_key_deleted', actor, key: id }]);
});

t.test('a refused mint names the caller and the reason', async (t) => {
  const { api, auditOf, headers, userId } = await startAudited(t);
  const { accessToken } = await api.signIn(username, password);
  const end = new Date(Date.now() + 60_000).toISOString();
  const parent = await api.mintKey(accessToken, { label: 'p', scopes: ['apikeys:write'], expires: end });
  const mint = (json: object, id: string) =>
    api.send({ method: 'POST', path: keysPath, json, apiKey: parent.key, headers: headers(id) });
  const beyond = await mint({ label: 'child', scopes: ['store:read'] }, 'beyond');
  const longer = await mint({ label: 'child', scopes: ['apikeys:write'], expires: null }, 'longer');
  t.same([beyond.status, longer.status], [403, 403]);
  const actor = { user: userId, key: parent.id, kind: 'api_key' };
  for (const [request_id, reason] of [
    ['beyond', 'insufficient_scope'],
    ['longer', 'expiry_exceeds_caller'],
  ] as const)
    assertLine(t, auditOf(request_id), {
      event: 'api_key_refused',
      outcome: 'failure',
      actor,
      subject: userId,
      reason,
      address: from,
      request_id,
    });
});

t.test('throttled attempts are logged, too', async (t) => {
  const { api, logLines, auditLines } = await startThrottled(t);
  const form = { username, password: 'not the password' };
  await api.send({ method: 'POST', path: loginPath, form });
  const signIn = await api.send({ method: 'POST', path: loginPath, form: { username, password } });
  await api.activate(username, password, 'not the bootstrap token');
  const activation = await api.activate(username, password, bootstrapToken);
  t.same([signIn.status, activation.status], [429, 429]);
  t.match(auditLines(), [
    { event: 'login_failed' },
    { event: 'login_failed', outcome: 'failure', actor: anonymous, reason: 'too_many_attempts' },
    { event: 'activation_failed' },
    { event: 'activation_failed', outcome: 'failure', actor: anonymous, reason: 'too_many_attempts' },
  ]);
  t.notMatch(JSON.stringify(logLines()), /not the password/);
});

t.test('audit lines are written whatever the level', async (t) => {
  const { api, logLines } = await startTestGateway(t, { config: { log: { level: 'error' } } });
  await api.activate(username, password, bootstrapToken);
  await api.signIn(username, password);
  t.same(
    logLines().map(({ event }) => event),
    ['user_created', 'login_succeeded'],
  );
});

t.test('every request has one access line, with what is known of it', async (t) => {
  const { api, headers, logLines, userId } = await startAudited(t);
  const { accessToken, cookie } = await api.signIn(username, password);
  const path = '/api/store/asset/1';
  await api.send({ path: `${path}?token=in-the-query`, bearer: accessToken, headers: headers('access-1') });
  await api.send({ path, headers: headers('access-2') });
  const lineOf = (id: string) =>
    logLines().filter((line) => line.msg === 'request' && line.request_id === id);
  const common = { method: 'GET', path, route: '/api/store', address: from };
  t.match(lineOf('access-1'), [
    { ...common, status: 200, outcome: 'ok', subject: userId, session: sessionIdOf(cookie), bytes_out: 11 },
  ]);
  t.match(lineOf('access-2'), [{ ...common, status: 401, outcome: 'not_authenticated' }]);
  t.notMatch(JSON.stringify(logLines()), /in-the-query/);
});
