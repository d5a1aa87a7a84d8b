import t from 'tap';
import { startProviderGateway } from '../support/gateway/provider-gateway.ts';

const asset = '/api/store/asset/1';
const staffGrant = { claim: 'groups', value: 'staff', scopes: ['store:read'] };
const adminGrant = { claim: 'groups', value: 'admins', scope_sets: ['administrator'] };
const keysPath = '/api/admin/api-keys/';

/** Somebody who is an administrator by a group, with a token, a key and the administrator set to hand on. */
async function startWithAdministrator(t: Parameters<typeof startProviderGateway>[0]) {
  const grants = [staffGrant, adminGrant];
  const gateway = await startProviderGateway(t, { idp: { grants } });
  const { api, signIn, stub, reload } = gateway;
  const response = await signIn({ groups: ['admins'] });
  const bearer: string = response.json.access_token;
  const cookie = response.setCookies[0]!.split(';', 1)[0]!;
  const mint = async () =>
    api.send({
      method: 'POST',
      path: keysPath,
      bearer,
      json: { label: 'k', scopes: [], scope_sets: ['administrator'] },
    });
  const { key: apiKey } = (await mint()).json;
  const statuses = async () => {
    const refreshed = (await api.refresh(cookie)).json.access_token;
    const used = await Promise.all(
      [{ bearer }, { bearer: refreshed }, { apiKey }].map((by) => api.send({ path: asset, ...by })),
    );
    return used.map(({ status }) => status);
  };
  const idp = {
    issuer: stub.origin,
    client_id: 'postern',
    redirect_uri: 'https://acme.example.com/signed-in',
  };
  return {
    ...gateway,
    statuses,
    mint,
    configure: (providers: object) => reload({ identity_providers: providers }),
    idp: { ...idp, grants },
  };
}

t.test('a grant’s rights are gone with the grant, at the next request', async (t) => {
  const { statuses, mint, configure, idp } = await startWithAdministrator(t);
  t.strictSame(await statuses(), [200, 200, 200]);
  await configure({ idp: { ...idp, grants: [staffGrant] } });
  t.strictSame(await statuses(), [403, 403, 403]);
  t.equal((await mint()).status, 403);
  await configure({ idp });
  t.strictSame(await statuses(), [200, 200, 200], 'and is back with it');
  await configure({ idp: { ...idp, grants: [{ ...adminGrant, value: 'others' }, staffGrant] } });
  t.strictSame(await statuses(), [403, 403, 403], 'another group is another grant');
});

t.test('a provider’s rights are gone with the provider, at the next request', async (t) => {
  const { statuses, configure, idp } = await startWithAdministrator(t);
  await configure({});
  t.strictSame(await statuses(), [403, 403, 403]);
  await configure({ renamed: idp });
  t.strictSame(await statuses(), [200, 200, 200], 'a provider is its issuer');
});

t.test('a lost group is lost to the keys minted in the meantime, too', async (t) => {
  const { statuses, signIn } = await startWithAdministrator(t);
  await signIn({ groups: ['staff'] });
  t.strictSame(await statuses(), [200, 200, 200], 'store:read is what staff has');
  await signIn({ groups: [] });
  t.strictSame(await statuses(), [403, 403, 403]);
});
