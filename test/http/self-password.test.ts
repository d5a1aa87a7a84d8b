import argon2 from 'argon2';
import t from 'tap';
import { startUserAdministration, userPassword } from '../support/administration/user-administration.ts';
import { startTestGateway } from '../support/gateway/gateway.ts';

const path = '/api/self/password';
const open = '/api/open-to-all-signed-in';
const newPassword = 'a password that replaced it';

async function start(t: Parameters<typeof startUserAdministration>[0], config: object = {}) {
  const gateway = await startUserAdministration(t, config);
  const { api, create } = gateway;
  const { id } = await create('grace', { scopes: ['apikeys:write', 'store:read'] });
  const signIn = (password = userPassword) => api.signIn('grace', password);
  const change = (bearer: string, json: object) => api.send({ method: 'PUT', path, bearer, json });
  const status = async (bearer: string) => (await api.send({ path: open, bearer })).status;
  return { ...gateway, id, signIn, change, status };
}

t.test('a user’s own password is changed, and the session that asks goes on alone', async (t) => {
  const { api, id, signIn, change, status, auditOf } = await start(t);
  const [own, other] = [await signIn(), await signIn()];
  const body = { current_password: userPassword, new_password: newPassword };
  t.match(await change(own.accessToken, body), { status: 204, text: '', setCookies: [] });
  t.equal(await status(own.accessToken), 200);
  t.equal((await api.refresh(own.cookie)).status, 200);
  t.equal(await status(other.accessToken), 401);
  t.equal((await api.refresh(other.cookie)).status, 401);
  await t.rejects(signIn());
  await signIn(newPassword);
  const events = (await auditOf(id)).filter(({ event }) => event === 'password_changed');
  t.match(events, [{ actor: { user: id, kind: 'session' }, target: { type: 'user', id } }]);
  t.equal(
    (await change(own.accessToken, { current_password: newPassword, new_password: userPassword })).status,
    204,
  );
  t.equal(await status(own.accessToken), 200, 'a second time, too');
});

t.test('a wrong current password is counted like a sign-in, and nothing changes', async (t) => {
  const login_throttle = { per_account_and_address: 2, per_account: 100, per_address: 100 };
  const { signIn, change, status } = await start(t, { login_throttle });
  const { accessToken } = await signIn();
  const wrong = { current_password: 'not the password', new_password: newPassword };
  const right = { ...wrong, current_password: userPassword };
  const invalid = { ...right, new_password: 'password1234' };
  for (const body of [invalid, invalid, invalid]) t.equal((await change(accessToken, body)).status, 422);
  for (const expected of [403, 403])
    t.match(await change(accessToken, wrong), { status: expected, json: { code: 'wrong_password' } });
  t.match(await change(accessToken, right), { status: 429, json: { code: 'too_many_attempts' } });
  t.equal(await status(accessToken), 200);
});

t.test(
  'its wrong guesses and those of the sign-in are counted together, and a success gives one back',
  async (t) => {
    const login_throttle = { per_account_and_address: 3, per_account: 100, per_address: 100 };
    const { api, users, id, signIn, change } = await start(t, { login_throttle });
    const { accessToken } = await signIn();
    const wrong = { current_password: 'not the password', new_password: newPassword };
    t.equal((await change(accessToken, wrong)).status, 403);
    t.equal((await change(accessToken, { ...wrong, current_password: userPassword })).status, 204);
    t.match((await users('GET', `${id}/throttle`)).json, { failures: 1, refusing: false });
    t.equal((await change(accessToken, wrong)).status, 403);
    await t.rejects(signIn('not the password either'));
    const refused = await change(accessToken, { current_password: newPassword, new_password: userPassword });
    t.match(refused, { status: 429, json: { code: 'too_many_attempts' } });
    t.match(refused.headers['retry-after'], /^[1-9]\d*$/);
    const form = { username: 'grace', password: newPassword };
    t.equal((await api.send({ method: 'POST', path: '/api/login/access-token', form })).status, 429);
  },
);

t.test('the session that continues is like any other from then on', async (t) => {
  const { api, users, id, signIn, change, status, asAdministrator } = await start(t);
  const own = await signIn();
  const body = { current_password: userPassword, new_password: newPassword };
  t.equal((await change(own.accessToken, body)).status, 204);
  const listed = await api.send({ path: '/api/self/sessions', bearer: own.accessToken });
  t.match(listed.json, { total: 1, items: [{ current: true }] });
  t.match((await api.send({ path: `/api/admin/sessions/?user__eq=${id}`, ...asAdministrator })).json, {
    total: 1,
  });
  const refreshed = await api.refresh(own.cookie);
  t.equal(refreshed.status, 200);
  const later = await signIn(newPassword);
  t.equal((await change(later.accessToken, { ...body, current_password: newPassword })).status, 204);
  t.equal(await status(own.accessToken), 401, 'another session’s change ends it');
  t.equal((await api.refresh(own.cookie)).status, 401);
  t.equal(await status(later.accessToken), 200);
  t.equal((await users('PATCH', id, { password: userPassword })).status, 200);
  t.equal(await status(later.accessToken), 401, 'so does the administrator’s');
  t.equal((await api.refresh(later.cookie)).status, 401);
});

t.test('the password of a user of the configuration is the configuration’s: 409', async (t) => {
  const password_hash = await argon2.hash(userPassword);
  const { api } = await startTestGateway(t, {
    config: { users: { ada: { password_hash, scope_sets: ['administrator'] } } },
  });
  const { accessToken: bearer } = await api.signIn('ada', userPassword);
  const send = (current_password: string) =>
    api.send({ method: 'PUT', path, bearer, json: { current_password, new_password: newPassword } });
  t.match(await send('not the password'), { status: 403, json: { code: 'wrong_password' } });
  t.match(await send(userPassword), { status: 409, json: { code: 'managed' } });
  t.equal((await api.send({ path: open, bearer })).status, 200, 'nothing has ended');
  await api.signIn('ada', userPassword);
});

t.test('a text that can’t be a password is 422, and every problem is named', async (t) => {
  const { signIn, change } = await start(t);
  const { accessToken } = await signIn();
  t.match(await change(accessToken, { new_password: 'short', more: 1 }), {
    status: 422,
    json: {
      detail: [
        { type: 'missing', loc: ['body', 'current_password'] },
        { type: 'string_too_short', loc: ['body', 'new_password'], input: null },
        { type: 'extra_forbidden', loc: ['body', 'more'] },
      ],
    },
  });
  t.match(await change(accessToken, { current_password: userPassword, new_password: 'Password1234' }), {
    status: 422,
    json: {
      detail: [
        {
          type: 'value_error',
          loc: ['body', 'new_password'],
          msg: 'Value error, must not be a common password',
          input: null,
        },
      ],
    },
  });
});

t.test('keys have no password, and neither has everyone', async (t) => {
  const { api, users, id, mint, signIn, change } = await start(t);
  const { accessToken } = await signIn();
  const body = { current_password: userPassword, new_password: newPassword };
  const { key } = await mint({ scopes: ['store:read'] }, { bearer: accessToken });
  const byKey = await api.send({ method: 'PUT', path, apiKey: key, json: body });
  t.match(byKey, { status: 403, json: { code: 'session_required' } });
  t.equal((await api.send({ method: 'PUT', path, json: body })).status, 401);
  await users('PATCH', id, { password: null });
  t.equal((await change(accessToken, body)).status, 401, 'the session has ended with the password');
});

t.test('wherever a password is set it is neither the user’s name nor a common one', async (t) => {
  const { users, create } = await start(t);
  const fault = (message: string) => ({
    status: 422,
    json: { detail: [{ type: 'value_error', loc: ['body', 'password'], msg: message, input: null }] },
  });
  const isName = fault('Value error, must not be the user name');
  const isCommon = fault('Value error, must not be a common password');
  const name = 'Grace Brewster';
  t.match(await users('POST', '', { username: name, password: ' grace BREWSTER' }), isName);
  t.match(await users('POST', '', { username: name, password: 'QwertyUiop123' }), isCommon);
  const { id } = await create(name);
  t.match(await users('PATCH', id, { password: 'grace brewster' }), isName);
  t.match(await users('PATCH', id, { username: 'someone else', password: 'Someone else' }), isName);
  t.match(await users('PATCH', id, { password: '123456789012' }), isCommon);
  t.equal((await users('PATCH', id, { username: 'someone else', password: 'grace brewster' })).status, 200);
});
