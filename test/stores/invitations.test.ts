import t, { type Test } from 'tap';
import { startUserAdministration, userPassword } from '../support/administration/user-administration.ts';
import { commandsOn } from '../support/gateway/commands-on.ts';
import { testOnEveryStore } from '../support/stores/every-store.ts';

const redeemPath = '/api/login/invitation';
const newPassword = 'a password nobody else knows';
const sevenDaysMs = 7 * 24 * 60 * 60 * 1000;

/** A gateway with the calls about invitations. */
async function startInvitations(t: Test, config: object = {}) {
  const administration = await startUserAdministration(t, config);
  const { users, api } = administration;
  return {
    ...administration,
    async invite(id: string, more: object = administration.asAdministrator): Promise<string> {
      const response = await users('POST', `${id}/invitation`, undefined, more);
      if (response.status !== 201) throw new Error(`${response.status} ${response.text}`);
      return response.json.token;
    },
    redeem: (token: unknown, password: unknown = newPassword, more: object = {}) =>
      api.send({ method: 'POST', path: redeemPath, json: { token, password }, ...more }),
  };
}

testOnEveryStore('an invitation sets a password, once, and ends the sessions', async (t, stores) => {
  const { users, api, create, signInAs, redeem, invite, auditOf, administratorId } = await startInvitations(
    t,
    stores,
  );
  const { id } = await create('grace');
  const session = await signInAs('grace');
  const before = Date.now();
  const response = await users('POST', `${id}/invitation`);
  t.equal(response.status, 201);
  t.strictSame(Object.keys(response.json), ['token', 'expires']);
  t.match(response.json.token, /^[A-Za-z0-9_-]{27,}$/, 'at least 160 bits');
  const expires = Date.parse(response.json.expires);
  t.ok(expires >= before + sevenDaysMs && expires <= Date.now() + sevenDaysMs);

  const redeemed = await redeem(response.json.token);
  t.equal(redeemed.status, 204, redeemed.text);
  t.equal(redeemed.text, '');
  t.strictSame(redeemed.setCookies, []);
  t.equal((await api.send({ path: '/api/x', ...session })).status, 401);
  await t.rejects(signInAs('grace'), 'the old password');
  t.equal((await api.signIn('grace', newPassword)).response.status, 200);
  const again = await redeem(response.json.token, `${newPassword}, again`);
  t.match(again, { status: 401, json: { code: 'invalid_invitation' } });
  t.equal(again.headers['www-authenticate'], 'Bearer realm="acme"');
  t.equal((await api.signIn('grace', newPassword)).response.status, 200);

  const first = await create('first', { password: null });
  t.equal((await redeem(await invite(first.id))).status, 204);
  t.match((await users('GET', first.id)).json, { has_password: true });
  t.match(await auditOf(id), [
    { event: 'user_created' },
    { event: 'invitation_created', actor: { user: administratorId }, changes: null },
    { event: 'invitation_redeemed', actor: { kind: 'anonymous' }, changes: { fields: ['password'] } },
  ]);
});

testOnEveryStore('a new invitation replaces the one before', async (t, stores) => {
  const { create, redeem, invite } = await startInvitations(t, stores);
  const { id } = await create('grace');
  const [one, two] = [await invite(id), await invite(id)];
  t.equal((await redeem(one)).status, 401);
  t.equal((await redeem(two)).status, 204);
});

testOnEveryStore('of many redemptions at once one counts', async (t, stores) => {
  const { create, redeem, invite } = await startInvitations(t, stores);
  const { id } = await create('grace');
  const token = await invite(id);
  const all = await Promise.all([1, 2, 3, 4].map((n) => redeem(token, `${newPassword} ${n}`)));
  t.strictSame(all.map(({ status }) => status).sort(), [204, 401, 401, 401]);
});

testOnEveryStore('a malformed password does not use an invitation up', async (t, stores) => {
  const { api, create, redeem, invite } = await startInvitations(t, stores);
  const { id } = await create('grace');
  const token = await invite(id);
  const problemsOf = async (json: unknown) => {
    const response = await api.send({ method: 'POST', path: redeemPath, json });
    return [response.status, response.json.detail.map?.(({ type, loc }: any) => [type, ...loc])];
  };
  t.strictSame(await problemsOf({ token, password: 'short' }), [
    422,
    [['string_too_short', 'body', 'password']],
  ]);
  t.strictSame(await problemsOf({ token }), [422, [['missing', 'body', 'password']]]);
  t.strictSame(await problemsOf({ token, password: newPassword, username: 'x' }), [
    422,
    [['extra_forbidden', 'body', 'username']],
  ]);
  t.strictSame(await problemsOf({ password: newPassword }), [422, [['missing', 'body', 'token']]]);
  t.equal((await redeem('made up', 'short')).status, 401, 'an unknown token comes first');
  const stale = { bearer: 'stale', apiKey: 'stale' };
  t.equal((await redeem(token, newPassword, stale)).status, 204, 'no credential is looked at');
});

testOnEveryStore('an invitation ends with what it was made by', async (t, stores) => {
  const gateway = await startInvitations(t, stores);
  const { users, create, signInAs, mint, call, redeem, invite } = gateway;
  const maker = await create('maker', { scopes: ['users:write', 'apikeys:write', 'store:read'] });
  const asMaker = await signInAs('maker');
  const key = await mint({ scopes: ['users:write', 'store:read'] }, asMaker);
  const { id } = await create('target', { scopes: ['store:read'] });
  const refused = async (
    name: string,
    by: object,
    act: () => Promise<unknown>,
    undo: () => Promise<unknown>,
  ) => {
    const token = await invite(id, by);
    await act();
    t.match(await redeem(token), { status: 401, json: { code: 'invalid_invitation' } }, name);
    await undo();
  };
  const patch = (who: string, body: object) => async () => users('PATCH', who, body);
  const nothing = async () => {};
  for (const by of [asMaker, { apiKey: key.key }]) {
    await refused(
      'the maker loses a scope that the user holds',
      by,
      patch(maker.id, { scopes: ['users:write', 'apikeys:write'] }),
      patch(maker.id, { scopes: ['users:write', 'apikeys:write', 'store:read'] }),
    );
    await refused(
      'the user gains what the maker lacks',
      by,
      patch(id, { scopes: ['store:read', 'store:write'] }),
      patch(id, { scopes: ['store:read'] }),
    );
    await refused('the user is disabled', by, patch(id, { disabled: true }), patch(id, { disabled: false }));
  }
  await refused('the key is deleted', { apiKey: key.key }, () => call('DELETE', key.id), nothing);
  const token = await invite(id, asMaker);
  await users('PATCH', maker.id, { scopes: ['store:read'] });
  t.equal((await redeem(token)).status, 204, 'what inviting took is not needed for what it gave');
  await users('PATCH', maker.id, { scopes: ['users:write', 'store:read'] });
  await refused(
    'the maker is disabled',
    asMaker,
    patch(maker.id, { disabled: true }),
    patch(maker.id, { disabled: false }),
  );
  const next = await signInAs('maker');
  await refused('the maker is removed', next, () => users('DELETE', maker.id), nothing);
  const gone = await invite(id);
  await users('DELETE', id);
  t.equal((await redeem(gone)).status, 401, 'the user is removed');
});

testOnEveryStore('a session that is not narrowed invites for all that its user holds', async (t, stores) => {
  const { users, api, create, signInAs, redeem, invite } = await startInvitations(t, stores);
  const maker = await create('maker', { scopes: ['users:write', 'store:read'] });
  const { id } = await create('target', { scopes: ['store:read'] });
  const narrow = { bearer: (await api.signIn('maker', userPassword, { scope: 'users:write' })).accessToken };
  t.equal((await users('POST', `${id}/invitation`, undefined, narrow)).status, 403);
  const { id: poor } = await create('poor');
  const [byNarrow, byWhole] = [await invite(poor, narrow), await invite(id, await signInAs('maker'))];
  await users('PATCH', poor, { scopes: ['store:read'] });
  t.equal((await redeem(byNarrow)).status, 401, 'a narrowed session never counts for more');
  await users('PATCH', maker.id, { scopes: ['users:write', 'store:read', 'store:write'] });
  await users('PATCH', id, { scopes: ['store:read', 'store:write'] });
  t.equal((await redeem(byWhole)).status, 204);
});

testOnEveryStore('another way of setting the password, and disabling, withdraw it', async (t, stores) => {
  const gateway = await startInvitations(t, stores);
  const { api, users, create, signInAs, redeem, invite, configFile } = gateway;
  const { id } = await create('grace');
  const run = commandsOn(configFile);
  const done = async (command: string, input = `${userPassword}\n`) => {
    const result = await run(command.split(' '), input);
    if (result.code !== 0) throw new Error(result.stderr);
  };
  const patch = async (body: object) => {
    const response = await users('PATCH', id, body);
    if (response.status !== 200) throw new Error(response.text);
  };
  const withdrawn = async (name: string, act: () => Promise<void>) => {
    await patch({ password: userPassword });
    const token = await invite(id);
    await act();
    t.match(await redeem(token), { status: 401, json: { code: 'invalid_invitation' } }, name);
  };
  await withdrawn('PATCH of the password', () => patch({ password: `${userPassword}, another` }));
  await withdrawn('the password taken away', () => patch({ password: null }));
  await withdrawn('set-password', () => done('user set-password grace'));
  await withdrawn('PUT /api/self/password', async () => {
    const json = { current_password: userPassword, new_password: `${userPassword}, mine` };
    const own = { method: 'PUT', path: '/api/self/password', json, ...(await signInAs('grace')) };
    if ((await api.send(own)).status !== 204) throw new Error('the password is not changed');
  });
  await withdrawn('disabled and enabled again', async () => {
    await patch({ disabled: true });
    await patch({ disabled: false });
  });
  await withdrawn('disabled by a command', async () => {
    await done('user disable grace', '');
    await patch({ disabled: false });
  });

  const kept = await invite(id);
  await patch({ display_name: 'Grace', email: 'grace@example.com', scopes: [] });
  t.equal((await redeem(kept)).status, 204, 'no other change withdraws it');
});

testOnEveryStore('an invitation expires', async (t, stores) => {
  const { create, redeem, invite, advance } = await startInvitations(t, stores);
  const { id } = await create('grace');
  const [early, late] = [await invite(id), await invite((await create('late')).id)];
  advance(sevenDaysMs - 60_000);
  t.equal((await redeem(early)).status, 204);
  advance(60_001);
  t.equal((await redeem(late)).status, 401);
});

testOnEveryStore('nobody invites who holds more, or who never signs in', async (t, stores) => {
  const { users, api, create, keyWith, administratorId } = await startInvitations(t, stores);
  const writer = await keyWith('users:write', 'store:read');
  const more = await create('more', { scopes: ['store:read', 'store:write'] });
  const service = await create('ci', { kind: 'service', password: null });
  const status = async (id: string, who: object | undefined = writer) => {
    const { status, json } = await users('POST', `${id}/invitation`, undefined, who);
    return [status, json.code];
  };
  for (const id of [more.id, administratorId]) t.strictSame(await status(id), [403, 'insufficient_scope']);
  t.strictSame(await status(service.id), [409, 'conflict']);
  t.strictSame(await status('nobody'), [404, 'not_found']);
  t.strictSame(await status(more.id, await keyWith('users:read')), [403, 'insufficient_scope']);
  t.strictSame(await status(more.id, {}), [401, 'not_authenticated']);
  t.equal((await users('GET', `${more.id}/invitation`)).status, 405);
  for (const path of ['/x', '/invitation/x', '/invitation/x/y'])
    t.equal((await users('POST', more.id + path)).status, 404, path);
  t.equal((await api.send({ path: redeemPath })).status, 405);
  t.equal((await api.send({ method: 'POST', path: `${redeemPath}/x` })).status, 404);
});

t.test('wrong tokens are counted per address, and right ones given back', async (t) => {
  const { create, redeem, invite } = await startInvitations(t, { login_throttle: { per_address: 2 } });
  const { id } = await create('grace');
  for (let round = 0; round < 3; round++) t.equal((await redeem(await invite(id))).status, 204);
  const token = await invite(id);
  t.equal((await redeem('wrong')).status, 401);
  t.equal((await redeem('wrong too')).status, 401);
  const over = await redeem(token);
  t.match(over, { status: 429, json: { code: 'too_many_attempts' } });
  t.ok(Number(over.headers['retry-after']) > 0);
});
