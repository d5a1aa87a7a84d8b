import t from 'tap';
import { es256, jwkOf } from '../support/corpora/forged-assertions.ts';
import { eventually } from '../support/eventually.ts';
import { administrator } from '../support/gateway/gateway.ts';
import { echoed, startReloaded } from '../support/gateway/reload.ts';
import { publish, startStubProvider } from '../support/servers/stub-provider.ts';

const { username, password } = administrator;

t.test('a provider can be signed in through once it is added, until it is removed', async (t) => {
  const stub = await startStubProvider(t);
  publish(stub, [jwkOf(es256)]);
  const redirect_uri = 'https://acme.example.com/signed-in';
  const idp = { issuer: stub.origin, client_id: 'postern', redirect_uri };
  const gateway = await startReloaded(t);
  const start = () => gateway.api.send({ path: '/api/login/idp/start' });
  t.equal((await start()).status, 404);
  gateway.reload({ identity_providers: { idp } });
  const begun = await eventually('the provider', async () => {
    const response = await start();
    return response.status === 200 && response;
  });
  t.equal(new URL(begun.json.url).origin, stub.origin);
  gateway.reload({});
  await eventually('it is gone', async () => (await start()).status === 404);
});

t.test('an added scope can be granted, and a removed one is no longer held by anyone', async (t) => {
  const scopes = { 'store:read': 'Read assets', 'store:write': 'Change assets' };
  const gateway = await startReloaded(t, { scopes });
  const { api } = gateway;
  const signIn = async () => (await api.signIn(username, password)).accessToken;
  const json = { label: 'new', scopes: ['store:new', 'store:read'] };
  const mint = (bearer: string) => api.send({ method: 'POST', path: '/api/admin/api-keys/', bearer, json });
  const scopesOf = async (credential: { bearer: string } | { apiKey: string }) =>
    echoed(await api.send({ path: '/api/x', ...credential }), 'x-auth-scopes')?.split(' ') ?? [];
  const hasNew = async (bearer: string) => (await scopesOf({ bearer })).includes('store:new');
  t.equal((await mint(gateway.bearer)).status, 422);

  gateway.reload({ scopes: { ...scopes, 'store:new': 'Added' } });
  const bearer = await eventually('a token has it', async () => {
    const token = await signIn();
    return (await hasNew(token)) && token;
  });
  const minted = await mint(bearer);
  t.equal(minted.status, 201);
  const apiKey: string = minted.json.key;
  t.strictSame(await scopesOf({ apiKey }), json.scopes);
  t.ok(await hasNew(gateway.bearer), 'and so has a token from before: its session was never restricted');

  gateway.reload({ scopes });
  await eventually('the token has it no longer', async () => !(await hasNew(bearer)));
  t.strictSame(await scopesOf({ apiKey }), ['store:read']);
  t.notOk(await hasNew(await signIn()));
  t.equal((await mint(bearer)).status, 422);
});

t.test('a refresh cookie of an earlier name goes to no upstream either', async (t) => {
  const gateway = await startReloaded(t, { sessions: { cookie: { name: 'first' } } });
  const cookies = 'a=1; first=x; first_login_abcdef=y; second=z; firsts=2';
  const sent = async () => echoed(await gateway.ask('/api/x', { cookie: cookies }), 'cookie');
  t.equal(await sent(), 'a=1; second=z; firsts=2');
  gateway.reload({ sessions: { cookie: { name: 'second' } } });
  await eventually('the new name counts', async () => (await sent()) === 'a=1; firsts=2');
});
