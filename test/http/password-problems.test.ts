import t, { type Test } from 'tap';
import { startUserAdministration, userPassword } from '../support/administration/user-administration.ts';
import { extra, missing, tooShortText, valueError } from '../support/corpora/problems.ts';
import { bootstrapToken, startTestGateway } from '../support/gateway/gateway.ts';

const common = 'QwertyUiop123';
const name = 'Grace Brewster';

const isCommon = (field = 'password') => valueError(['body', field], 'must not be a common password', null);
const isName = (field = 'password') => valueError(['body', field], 'must not be the user name', null);
const noSuchSet = (index: number, id: string) =>
  valueError(['body', 'scope_sets', index], 'no such scope set', id);
const blankName = tooShortText(['body', 'username'], ' ');
const more = extra(['body', 'more'], 1);

/** Sends each body and compares the problems of the 422. */
async function assertProblems(
  t: Test,
  send: (json: object) => Promise<{ readonly status: number; readonly json: any }>,
  rows: readonly (readonly [json: object, problems: readonly object[]])[],
): Promise<void> {
  for (const [json, problems] of rows) {
    const response = await send(json);
    t.equal(response.status, 422, JSON.stringify(json));
    t.strictSame(response.json.detail, problems, JSON.stringify(json));
  }
}

t.test('the activation names a common password together with every other problem', async (t) => {
  const { api } = await startTestGateway(t);
  const send = (json: object) => api.send({ method: 'POST', path: '/api/bootstrap/activate', json });
  const token = bootstrapToken;
  await assertProblems(t, send, [
    [{ more: 1, token, username: ' ', password: common }, [blankName, isCommon(), more]],
    [{ more: 1, token, username: name, password: name.toUpperCase() }, [isName(), more]],
    [{ token, password: common }, [missing('body', 'username'), isCommon()]],
    [{ token, username: name, password: name.slice(0, 8) }, [tooShort('password')]],
  ]);
});

t.test('a new user names a wrong password and unknown sets together with every other problem', async (t) => {
  const { users } = await startUserAdministration(t);
  await assertProblems(t, (json) => users('POST', '', json), [
    [
      { more: 1, password: common, scope_sets: ['administrator', 'gone'], username: ' ' },
      [blankName, noSuchSet(1, 'gone'), isCommon(), more],
    ],
    [{ username: name, password: ` ${name}`, disabled: 'maybe' }, [notABoolean('maybe'), isName()]],
    [{ kind: 'service', password: common, more: 1 }, [missing('body', 'username'), ofService, more]],
    [{ username: name, scope_sets: 'gone', password: common }, [notAList('gone'), isCommon()]],
  ]);
});

t.test(
  'a patch of a user is judged by the name that is kept, together with every other problem',
  async (t) => {
    const { users, create } = await startUserAdministration(t);
    const { id } = await create(name);
    const service = await create('nightly', { kind: 'service', password: null });
    await assertProblems(t, (json) => users('PATCH', id, json), [
      [{ password: name, scope_sets: ['gone'], more: 1 }, [noSuchSet(0, 'gone'), isName(), more]],
      [{ password: common, username: ' ', kind: 'service' }, [blankName, otherKind, isCommon()]],
      [{ password: 'Someone else', username: 'someone else', more: 1 }, [isName(), more]],
    ]);
    await assertProblems(t, (json) => users('PATCH', service.id, json), [
      [{ password: common, username: ' ' }, [blankName, ofService]],
    ]);
    const unknown = await users('PATCH', 'nobody', { password: common, more: 1 });
    t.strictSame(unknown.json.detail, [isCommon(), more], 'before 404');
    t.equal((await users('PATCH', 'nobody', { password: userPassword })).status, 404);
  },
);

t.test('an invitation names a wrong password together with every other problem, and is kept', async (t) => {
  const { api, users, create } = await startUserAdministration(t);
  const { id } = await create(name);
  const { token } = (await users('POST', `${id}/invitation`)).json;
  const send = (json: object) => api.send({ method: 'POST', path: '/api/login/invitation', json });
  await assertProblems(t, send, [
    [{ more: 1, token, password: common }, [isCommon(), more]],
    [{ more: 1, token, password: name }, [isName(), more]],
    [{ password: common }, [missing('body', 'token'), isCommon()]],
  ]);
  t.equal((await send({ token, password: userPassword })).status, 204);
});

t.test('a change of one’s own password names a wrong one together with every other problem', async (t) => {
  const { api, create } = await startUserAdministration(t);
  await create(name);
  const { accessToken: bearer } = await api.signIn(name, userPassword);
  const send = (json: object) => api.send({ method: 'PUT', path: '/api/self/password', bearer, json });
  await assertProblems(t, send, [
    [
      { more: 1, new_password: common },
      [missing('body', 'current_password'), isCommon('new_password'), more],
    ],
    [{ current_password: userPassword, new_password: name, more: 1 }, [isName('new_password'), more]],
  ]);
});

t.test('a new key names unknown sets together with every other problem, of the query first', async (t) => {
  const { api, asAdministrator } = await startUserAdministration(t);
  const json = { scope_sets: ['gone'], scopes: ['store:read'], more: 1 };
  const path = '/api/admin/api-keys/?hydrate=maybe';
  const response = await api.send({ method: 'POST', path, json, ...asAdministrator });
  t.match(response.json.detail, [
    { type: 'bool_parsing', loc: ['query', 'hydrate'] },
    missing('body', 'label'),
    noSuchSet(0, 'gone'),
    more,
  ]);
});

const ofService = valueError(['body', 'password'], 'a service has none', null);
const otherKind = valueError(['body', 'kind'], 'the kind of a user never changes', 'service');
const notAList = (input: unknown) => ({
  type: 'list_type',
  loc: ['body', 'scope_sets'],
  msg: 'Input should be a valid list',
  input,
});
const notABoolean = (input: unknown) => ({
  type: 'bool_type',
  loc: ['body', 'disabled'],
  msg: 'Input should be a valid boolean',
  input,
});
function tooShort(field: string) {
  return {
    type: 'string_too_short',
    loc: ['body', field],
    msg: 'String should have at least 12 characters',
    input: null,
    ctx: { min_length: 12 },
  };
}
