import { keysPath } from '../support/administration/key-administration.ts';
import { startProviderRights } from '../support/administration/provider-rights.ts';
import { userPassword } from '../support/administration/user-administration.ts';
import { testOnEveryStore } from '../support/stores/every-store.ts';

const setsPath = '/api/admin/scope-sets/';
const missing = { status: 403, json: { code: 'insufficient_scope' } };

testOnEveryStore('a session restricted to everything is none of an administrator', async (t, stores) => {
  const { users, api, create, ask, signInBy, asAdministrator } = await startProviderRights(t, stores);
  const { json: catalogue } = await api.send({ path: `${keysPath}scopes`, ...asAdministrator });
  const { id: set } = (
    await api.send({
      ...{ method: 'POST', path: setsPath, ...asAdministrator },
      json: { name: 'Editors of ours', scopes: ['store:write'] },
    })
  ).json;
  const root = await create('root', { scope_sets: ['administrator'] });
  const editor = await create('editor', {
    ...{ scopes: ['users:write', 'apikeys:write'], scope_sets: [set] },
  });
  const { id: target } = await create('target');
  const whole = await signInBy('root', catalogue.join(' '));
  const free = await signInBy('root');
  const refreshed = await api.refresh(whole.cookie);
  t.equal(refreshed.json.scope, catalogue.join(' '));
  const administrates = (by: object) =>
    Promise.all([
      users('PATCH', target, { scope_sets: ['administrator'] }, by),
      users('PATCH', target, { scope_sets: [set] }, by),
      users('POST', '', { username: crypto.randomUUID(), scope_sets: ['administrator'] }, by),
      users('PATCH', root.id, { display_name: 'Root' }, by),
      users('DELETE', root.id, undefined, by),
      users('POST', `${root.id}/invitation`, undefined, by),
      users('POST', `${target}/identities`, { provider: 'idp', subject: crypto.randomUUID() }, by),
      ask({ label: 'k', scopes: [], scope_sets: ['administrator'] }, by),
      ask({ label: 'k', scopes: [], scope_sets: [set] }, by),
      users('POST', `${root.id}/api-keys`, { label: 'k', scopes: ['store:read'] }, by),
      api.send({ method: 'DELETE', path: '/api/admin/sessions/?all=true', ...by }),
    ]);
  for (const by of [whole, { bearer: refreshed.json.access_token as string }])
    for (const response of await administrates(by)) {
      t.match(response, missing);
      const [, named = ''] = /^Missing scope: (.+)$/.exec(response.json.detail) ?? [];
      t.ok(
        named.split(' ').every((name) => catalogue.includes(name)),
        response.json.detail,
      );
    }
  t.equal(
    (await users('PATCH', target, { scopes: ['store:read'] }, whole)).status,
    200,
    'scopes it may give',
  );
  t.equal((await users('PATCH', target, { scope_sets: [set] }, free)).status, 200);

  const asked = 'apikeys:write store:write users:write';
  const narrowed = await signInBy('editor', asked);
  t.match(await ask({ label: 'k', scopes: [], scope_sets: [set] }, narrowed), missing);
  t.equal((await ask({ label: 'k', scopes: ['store:write'] }, narrowed)).status, 201);
  t.equal((await ask({ label: 'k', scopes: [], scope_sets: [set] }, await signInBy('editor'))).status, 201);
  t.match(
    await users('PATCH', editor.id, { display_name: 'E' }, narrowed),
    missing,
    'itself it can’t change',
  );
});

testOnEveryStore(
  'a session never restricted keeps its sets, and gains what its user gains',
  async (t, stores) => {
    const { users, api, create, ask, signInBy, openPages, statusOfPage, usesOf, asAdministrator } =
      await startProviderRights(t, stores);
    const set = { name: 'minters', scopes: ['apikeys:write', 'users:write'] };
    const made = await api.send({ method: 'POST', path: setsPath, json: set, ...asAdministrator });
    const { id } = await create('bea', { scope_sets: [made.json.id] });
    const [free, restricted] = [await signInBy('bea'), await signInBy('bea', set.scopes.join(' '))];
    const page = await openPages('bea');
    const hand = (by: object) => ask({ label: 'k', scopes: [], scope_sets: [made.json.id] }, by);
    t.equal((await hand(free)).status, 201);

    await users('PATCH', id, { scopes: ['store:read'] });
    t.equal((await hand(free)).status, 201, 'with a scope of its own');
    t.match(await hand(restricted), missing);
    await api.send({
      ...{ method: 'PATCH', path: setsPath + made.json.id, ...asAdministrator },
      json: { scopes: [...set.scopes, 'store:write'] },
    });
    t.equal((await hand(free)).status, 201, 'with a scope that came by the set itself');
    t.match(await usesOf(free), { token: 200, 'refreshed token': 200, decision: 200 });
    t.match(await usesOf(restricted), { token: 403, 'refreshed token': 403, decision: 403 });
    t.equal(await statusOfPage(page), 200);
    const shown = await api.send({ path: '/api/self/sessions', ...free });
    for (const { current, scopes, method } of shown.json.items)
      if (current) t.ok(scopes.includes('store:read'), method);

    await users('PATCH', id, { scopes: [], scope_sets: [] });
    t.match(await hand(free), missing);
    t.match(await usesOf(free), { token: 403, 'refreshed token': 403, decision: 403 });
  },
);

testOnEveryStore('an invitation by a restricted session counts as that session', async (t, stores) => {
  const { users, api, create, signInBy } = await startProviderRights(t, stores);
  const { id: helpdesk } = await create('helpdesk', { scopes: ['users:write'] });
  const { id } = await create('target');
  const invite = async (by: object) => {
    const invited = await users('POST', `${id}/invitation`, undefined, by);
    if (invited.status !== 201) throw new Error(`inviting was answered ${invited.status} ${invited.text}`);
    return invited.json.token;
  };
  const redeem = (token: string) =>
    api.send({ method: 'POST', path: '/api/login/invitation', json: { token, password: userPassword } });
  // It names all that its user holds today.
  const narrowed = await invite(await signInBy('helpdesk', 'users:write'));
  for (const who of [helpdesk, id]) await users('PATCH', who, { scopes: ['store:read', 'users:write'] });
  t.equal((await redeem(narrowed)).status, 401, 'what its user has gained is none of the session’s');
  await users('PATCH', id, { scopes: [] });
  const free = await invite(await signInBy('helpdesk'));
  for (const who of [helpdesk, id]) await users('PATCH', who, { scopes: ['store:write', 'users:write'] });
  t.equal((await redeem(free)).status, 204, 'a session that was never restricted counts as its user');
});
