import { startUserAdministration } from '../support/administration/user-administration.ts';
import { testOnEveryStore } from '../support/stores/every-store.ts';

const provider = { client_id: 'postern', redirect_uri: 'https://acme.example.com/signed-in' };
const providers = {
  identity_providers: {
    idp: { issuer: 'https://idp.example.com', ...provider },
    other: { issuer: 'https://other.example.com', ...provider },
  },
};

testOnEveryStore('identities are linked, listed and unlinked', async (t, stores) => {
  const { users, api, create, signInAs, auditOf, administratorId } = await startUserAdministration(t, {
    ...stores,
    ...providers,
  });
  const { id } = await create('grace');
  const { id: another } = await create('other');
  const [one, two] = [
    { provider: 'other', subject: ' A/1 ü ' },
    { provider: 'idp', subject: 'g' },
  ];
  t.strictSame((await users('GET', `${id}/identities`)).json, []);
  for (const identity of [one, two]) {
    const linked = await users('POST', `${id}/identities`, identity);
    t.match(linked, { status: 201, json: identity });
  }
  t.strictSame((await users('GET', `${id}/identities/`)).json, [one, two]);
  t.strictSame((await users('GET', id)).json.identities, [one, two]);
  for (const who of [id, another])
    t.equal((await users('POST', `${who}/identities`, one)).json.code, 'conflict', 'linked already');
  t.equal((await users('POST', `${another}/identities`, { ...one, provider: 'idp' })).status, 201);

  const session = await signInAs('grace');
  const query = `?provider=other&subject=${encodeURIComponent(one.subject)}`;
  for (const wrong of ['?provider=idp&subject=x', '?provider=none&subject=g', `${query}x`])
    t.equal((await users('DELETE', `${id}/identities${wrong}`)).status, 404, wrong);
  t.equal((await users('DELETE', `${another}/identities${query}`)).status, 404, "another user's");
  for (const short of ['', '?provider=idp', '?subject=g', '?provider=&subject='])
    t.equal((await users('DELETE', `${id}/identities${short}`)).status, 422, short);
  t.equal((await users('DELETE', `${id}/identities${query}`)).status, 204);
  t.strictSame((await users('GET', `${id}/identities`)).json, [two]);
  t.equal((await api.send({ path: '/api/x', ...session })).status, 401, 'the sessions have ended');
  t.equal((await users('DELETE', `${id}/identities${query}`)).status, 404);
  const changes = { fields: ['identities'] };
  t.match(await auditOf(id), [
    { event: 'user_created' },
    { event: 'identity_linked', actor: { user: administratorId }, changes },
    { event: 'identity_linked', changes },
    { event: 'identity_unlinked', changes },
  ]);
});

testOnEveryStore('nobody links an identity to who holds more, or to a service', async (t, stores) => {
  const { users, create, keyWith, administratorId } = await startUserAdministration(t, {
    ...stores,
    ...providers,
  });
  const writer = await keyWith('users:write', 'store:read');
  const more = await create('more', { scopes: ['store:read', 'store:write'] });
  const service = await create('ci', { kind: 'service', password: null });
  const { id } = await create('equal', { scopes: ['store:read'] });
  const identity = { provider: 'idp', subject: 'mine' };
  const link = (who: string, body: unknown = identity, by: object = writer) =>
    users('POST', `${who}/identities`, body, by);
  const unlink = (who: string) =>
    users('DELETE', `${who}/identities?provider=idp&subject=its`, undefined, writer);
  for (const who of [more.id, administratorId]) {
    t.equal((await link(who)).json.code, 'insufficient_scope');
  }
  await users('POST', `${more.id}/identities`, { provider: 'idp', subject: 'its' });
  t.equal((await unlink(more.id)).json.code, 'insufficient_scope');
  t.match(await link(service.id), { status: 422, json: { detail: [{ loc: ['body', 'provider'] }] } });
  t.equal((await link('nobody')).status, 404);
  t.equal((await link(id, identity, await keyWith('users:read'))).status, 403);
  for (const [body, places] of [
    [{}, ['provider', 'subject']],
    [{ provider: 'none', subject: 'x' }, ['provider']],
    [{ provider: 'idp', subject: '' }, ['subject']],
    [{ provider: 'idp', subject: ' ' }, ['subject']],
    [{ provider: 'idp', subject: 'x'.repeat(256) }, ['subject']],
    [{ provider: 'idp', subject: 'x', issuer: 'y' }, ['issuer']],
  ] as const) {
    const { status, json } = await link(id, body);
    t.equal(status, 422);
    t.strictSame(
      json.detail.map(({ loc }: any) => loc[1]),
      places,
    );
  }
  t.equal((await link(id)).status, 201);
  t.strictSame((await users('GET', more.id)).json.identities, [{ provider: 'idp', subject: 'its' }]);
});

testOnEveryStore("the last administrator's last way in stays", async (t, stores) => {
  const { users, mint, administratorId } = await startUserAdministration(t, { ...stores, ...providers });
  const { key } = await mint({ scopes: [], scope_sets: ['administrator'] });
  const by = { apiKey: key };
  const path = `${administratorId}/identities`;
  await users('POST', path, { provider: 'idp', subject: 'ada' });
  t.equal((await users('PATCH', administratorId, { password: null }, by)).status, 200);
  const unlink = () => users('DELETE', `${path}?provider=idp&subject=ada`, undefined, by);
  t.match(await unlink(), { status: 409, json: { code: 'last_administrator' } });
  await users('POST', path, { provider: 'other', subject: 'ada' }, by);
  t.equal((await unlink()).status, 204);
});
