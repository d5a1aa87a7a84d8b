import { keysPath } from '../support/administration/key-administration.ts';
import { startProviderRights, type Uses } from '../support/administration/provider-rights.ts';
import { userPassword } from '../support/administration/user-administration.ts';
import { testOnEveryStore } from '../support/stores/every-store.ts';

const allowed: Uses = { token: 200, 'refreshed token': 200, decision: 200 };
const refused: Uses = { token: 403, 'refreshed token': 403, decision: 403 };
const allowedKey: Uses = { key: 200, 'key as bearer': 200, decision: 200 };
const refusedKey: Uses = { key: 403, 'key as bearer': 403, decision: 403 };
const missing = { status: 403, json: { code: 'insufficient_scope' } };
const asEverybody = { label: 'k', scopes: [], scope_sets: ['administrator'] };

testOnEveryStore('a password that somebody else set never rises with the provider', async (t, stores) => {
  const gateway = await startProviderRights(t, stores);
  const { users, api, create, ask, signInAt, signInBy, openPages, userNamed, usesOf, statusOfPage } = gateway;
  await create('helpdesk', { scopes: ['users:read', 'users:write'] });
  const helpdesk = await signInBy('helpdesk');
  await signInAt('carol');
  const { id } = await userNamed('carol');
  t.equal((await users('PATCH', id, { password: userPassword }, helpdesk)).status, 200);
  const byPassword = await signInBy('carol');
  const page = await openPages('carol');

  const promoted = await signInAt('carol', ['admins']);
  t.strictSame(await usesOf(promoted), allowed, 'she is an administrator where she signed in');
  t.equal((await ask(asEverybody, promoted)).status, 201);
  t.equal((await users('GET', '', undefined, promoted)).status, 200);
  t.equal(
    (await users('POST', '', { username: 'by grant', scope_sets: ['administrator'] }, promoted)).status,
    201,
  );
  for (const session of [byPassword, await signInBy('carol')]) {
    t.strictSame(await usesOf(session), refused);
    t.match(await ask({ label: 'k', scopes: ['store:read'] }, session), missing);
    t.match(await ask(asEverybody, session), missing);
    t.match(await users('GET', '', undefined, session), missing);
    t.match(await users('POST', '', { username: 'x' }, session), missing);
    t.match(await api.send({ method: 'DELETE', path: '/api/admin/sessions/?all=true', ...session }), missing);
  }
  for (const cookie of [page, await openPages('carol')]) t.equal(await statusOfPage(cookie), 403);
  t.equal(await statusOfPage(await gateway.openPagesAt('carol', ['admins'])), 200);

  const now = await userNamed('carol');
  t.match(now, { scopes: [], scope_sets: [], provider_scope_sets: ['administrator'] });
  t.ok(now.effective_scopes.includes('store:read'), 'what she holds at most is shown');
  const list = await api.send({ path: `/api/admin/sessions/?user__eq=${id}`, ...gateway.asAdministrator });
  for (const { method, scopes } of list.json.items)
    t.equal(scopes.includes('store:read'), method === 'idp', `a session by ${method}`);
  for (const [method, path, body] of [
    ['PATCH', id, { password: userPassword }],
    ['POST', `${id}/invitation`, undefined],
    ['POST', `${id}/identities`, { provider: 'other', subject: 'x' }],
    ['DELETE', id, undefined],
  ] as const)
    t.match(await users(method, path, body, helpdesk), missing, `${method} ${path}`);
});

testOnEveryStore('a subject is linked as if all its provider grants were given', async (t, stores) => {
  const { users, api, create, ask, signInAt, signInBy, usesOf, keyWith, ...gateway } =
    await startProviderRights(t, stores);
  await create('helpdesk', { scopes: ['users:read', 'users:write'] });
  const helpdesk = await signInBy('helpdesk');
  const { id } = (await users('POST', '', { username: 'mule', password: userPassword }, helpdesk)).json;
  const link = (by: object, provider = 'idp', subject = '42') =>
    users('POST', `${id}/identities`, { provider, subject }, by);
  const refusedLink = await link(helpdesk);
  t.match(refusedLink, missing);
  const { json: catalogue } = await api.send({ path: `${keysPath}scopes`, ...gateway.asAdministrator });
  const lacking = catalogue.filter((scope: string) => !scope.startsWith('users:'));
  t.equal(refusedLink.json.detail, `Missing scope: ${lacking.join(' ')}`);
  t.match(await link(helpdesk, 'open'), missing, 'another provider of that issuer gives the same account');
  t.match(await link(await keyWith('users:write', ...lacking)), missing, 'every scope is not the set');
  t.equal((await link(helpdesk, 'other')).status, 201, 'what grants nothing, gives nothing');

  t.equal((await link(gateway.asAdministrator)).status, 201);
  const before = await signInBy('mule');
  const boss = await signInAt('42', ['admins']);
  t.strictSame(await usesOf(boss), allowed);
  for (const session of [before, await signInBy('mule')]) {
    t.strictSame(await usesOf(session), refused, 'by a password that others know');
    t.match(await ask(asEverybody, session), missing);
  }
});

testOnEveryStore('what one identity is granted counts for no other of the user', async (t, stores) => {
  const { users, signInAt, userNamed, usesOf, usesOfKey, mint, ...gateway } = await startProviderRights(
    t,
    stores,
  );
  await signInAt('carol');
  const { id } = await userNamed('carol');
  for (const identity of [
    { provider: 'other', subject: 'mine' },
    { provider: 'idp', subject: 'mine' },
  ])
    t.equal((await users('POST', `${id}/identities`, identity)).status, 201);
  const granted = await signInAt('carol', ['readers']);
  t.strictSame(await usesOf(granted), allowed);
  const { key } = await mint({}, granted);
  for (const session of [
    await signInAt('mine', [], 'other'),
    await signInAt('mine'),
    await signInAt('mine', [], 'open'),
  ])
    t.strictSame(await usesOf(session), refused);
  t.strictSame(await usesOf(granted), allowed, 'nor do their sign-ins take it away');
  const open = await signInAt('carol', [], 'open');
  t.strictSame(
    [await usesOf(open), await usesOf(granted)],
    [refused, refused],
    'the account is granted nothing now',
  );
  t.strictSame(await usesOfKey(key), refusedKey);
  await signInAt('carol', ['readers']);
  t.strictSame(
    [await usesOf(open), await usesOf(granted)],
    [refused, allowed],
    'by the provider that grants it',
  );
  t.strictSame(await usesOfKey(key), allowedKey);

  const { idp, ...others } = gateway.providers;
  const serve = (identity_providers: object) => gateway.reload({ ...gateway.config, identity_providers });
  const { grants: _, ...withoutGrants } = idp as { readonly grants: unknown };
  await serve({ ...others, idp: withoutGrants });
  t.strictSame([await usesOf(granted), await usesOfKey(key)], [refused, refusedKey], 'the grant is gone');
  await serve(others);
  t.strictSame([await usesOf(granted), await usesOfKey(key)], [refused, refusedKey], 'the provider is gone');
  await serve({ other: others.other!, renamed: idp! });
  t.strictSame([await usesOf(granted), await usesOfKey(key)], [allowed, allowedKey], 'it has another name');
  await serve(gateway.providers);
  t.strictSame([await usesOf(granted), await usesOfKey(key)], [allowed, allowedKey], 'all is as it was');
});

testOnEveryStore(
  'a key has what a provider grants its owner if it comes of such a session',
  async (t, stores) => {
    const {
      users,
      api,
      ask,
      mint,
      create,
      signInAt,
      signInBy,
      userNamed,
      usesOf,
      usesOfKey,
      asAdministrator,
    } = await startProviderRights(t, stores);
    const reader = { label: 'k', scopes: ['store:read', 'apikeys:write'] };
    const granted = await signInAt('carol', ['readers']);
    const { id } = await userNamed('carol');
    const { key } = await mint(reader, granted);
    const child = await mint(reader, { apiKey: key });
    const grandchild = await mint(reader, { apiKey: child.key });
    const own = await api.send({
      method: 'POST',
      path: `/api/admin/users/${id}/api-keys`,
      json: reader,
      ...granted,
    });
    t.match(own, missing, 'that call needs users:write');
    const family = [key, child.key, grandchild.key];
    for (const one of family) t.strictSame(await usesOfKey(one), allowedKey);

    await signInAt('carol');
    t.strictSame(await usesOf(granted), refused);
    for (const one of family) t.strictSame(await usesOfKey(one), refusedKey, 'as far as it is granted still');
    t.match(await ask(reader, { apiKey: key }), missing);
    await signInAt('carol', ['readers']);
    for (const one of family) t.strictSame(await usesOfKey(one), allowedKey);

    const forCarol = (scopes: readonly string[]) =>
      api.send({
        method: 'POST',
        path: `/api/admin/users/${id}/api-keys`,
        json: { label: 'k', scopes },
        ...asAdministrator,
      });
    t.match(await forCarol(['store:read']), missing, 'nobody else mints what only she is granted');
    await users('PATCH', id, { scopes: ['store:read', 'apikeys:write'], password: userPassword });
    const byAnother = (await forCarol(['store:read'])).json.key;
    const byPassword = (await mint(reader, await signInBy('carol'))).key;
    for (const one of [byAnother, byPassword]) t.strictSame(await usesOfKey(one), allowedKey);
    await users('PATCH', id, { scopes: [] });
    for (const one of [byAnother, byPassword]) t.strictSame(await usesOfKey(one), refusedKey);
    for (const one of family) t.strictSame(await usesOfKey(one), allowedKey);

    const heir = await create('heir', { scopes: ['store:read', 'apikeys:write'] });
    t.equal((await users('DELETE', `${id}?keys=transfer:${heir.id}`)).status, 204);
    t.strictSame(await usesOfKey(key), allowedKey, 'by what its new owner holds');
    await users('PATCH', heir.id, { scopes: [] });
    t.equal(
      (await users('POST', `${heir.id}/identities`, { provider: 'idp', subject: 'carol' })).status,
      201,
    );
    t.strictSame(await usesOf(await signInAt('carol', ['readers'])), allowed);
    t.strictSame(
      await usesOfKey(key),
      refusedKey,
      'which the account’s grants are not, even if it is theirs now',
    );
  },
);

testOnEveryStore('an invitation counts as the session that made it', async (t, stores) => {
  const { users, api, create, signInAt, signInBy, userNamed } = await startProviderRights(t, stores);
  const boss = await signInAt('boss', ['admins']);
  const { id: bossId } = await userNamed('boss');
  await users('PATCH', bossId, { password: userPassword, scopes: ['users:write'] });
  const byPassword = await signInBy('boss');
  const { id } = await create('more', { scopes: ['store:read'] });
  t.match(await users('POST', `${id}/invitation`, undefined, byPassword), missing);
  t.equal((await users('POST', `${id}/invitation`, undefined, boss)).status, 401, 'the password ended it');
  const again = await signInAt('boss', ['admins']);
  const redeem = (token: string) =>
    api.send({ method: 'POST', path: '/api/login/invitation', json: { token, password: userPassword } });
  const invite = async (by: object) => (await users('POST', `${id}/invitation`, undefined, by)).json.token;
  const [lost, kept] = [await invite(again), await invite(await signInAt('boss', ['admins']))];
  t.equal((await redeem(lost)).status, 401, 'only the newest');
  await signInAt('boss');
  t.equal((await redeem(kept)).status, 401, 'what the maker was granted is gone');
  await signInAt('boss', ['admins']);
  t.equal((await redeem(kept)).status, 204);
});

testOnEveryStore('who is an administrator by a provider alone is not the last one', async (t, stores) => {
  const { users, api, signInAt, administratorId } = await startProviderRights(t, stores);
  const boss = await signInAt('boss', ['admins']);
  const last = { status: 409, json: { code: 'last_administrator' } };
  t.match(await users('PATCH', administratorId, { disabled: true }, boss), last);
  t.match(await users('DELETE', administratorId, undefined, boss), last);
  const all = await api.send({ method: 'DELETE', path: '/api/admin/sessions/?all=true', ...boss });
  t.equal(all.status, 204, 'but an administrator');
  t.equal((await api.send({ path: '/api/x', ...boss })).status, 401);
});
