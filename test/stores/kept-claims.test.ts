import type { ApiResponse } from '../support/clients/api-client.ts';
import {
  es256,
  claims as exampleClaims,
  forge,
  header,
  jwkOf,
} from '../support/corpora/forged-assertions.ts';
import { eventually } from '../support/eventually.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/gateway/gateway-process.ts';
import { publish, startStubProvider } from '../support/servers/stub-provider.ts';
import { testOnEveryStore } from '../support/stores/every-store.ts';

const groups = ['staff', 'Zürich'];
const all = { 'X-Groups': 'staff,Z%C3%BCrich', 'X-Badge': '74' };

/** The headers of claims in a response of the echo. */
function told({ json }: ApiResponse): Record<string, string> {
  const headers: [string, string][] = json.headers;
  return Object.fromEntries(headers.filter(([name]) => Object.hasOwn(all, name)));
}

testOnEveryStore('what a session keeps is told by every gateway and worker', async (t, stores) => {
  const stub = await startStubProvider(t);
  publish(stub, [jwkOf(es256)]);
  const idp = {
    issuer: stub.origin,
    client_id: 'postern',
    redirect_uri: 'https://acme.example.com/in',
    unsolicited: true,
    keep: { groups: 'groups', badge: '/org/badge' },
  };
  const config = {
    ...stores,
    identity_providers: { idp },
    upstreams: {
      echo: {
        url: 'builtin:echo',
        identity_headers: { 'X-Groups': 'claim:groups', 'X-Badge': 'claim:badge' },
      },
    },
    routes: [{ prefix: '/api', upstream: 'echo' }],
    shutdown: { timeout: '50ms' },
  };
  const one = await startGatewayProcess(t, { config });
  const other = await startGatewayProcess(t, { config: { ...config, workers: 2 }, folder: one.folder });

  async function signInAt({ api }: GatewayProcess): Promise<ApiResponse> {
    const iat = Math.floor(Date.now() / 1000);
    const claims = { ...exampleClaims, iss: stub.origin, iat, exp: iat + 300, jti: crypto.randomUUID() };
    const assertion = forge(header, { ...claims, groups, org: { badge: 74 } });
    const path = '/api/login/idp/exchange';
    return api.send({ method: 'POST', path, form: { assertion } });
  }
  // Each request on a connection of its own, so that both workers get some.
  const toldAt = async ({ api }: GatewayProcess, bearer: string) =>
    told(await api.send({ path: '/api/x', bearer }));

  for (const [begun, elsewhere] of [
    [one, other],
    [other, one],
  ] as const) {
    const signedIn = await signInAt(begun);
    t.equal(signedIn.status, 200);
    const bearer = signedIn.json.access_token;
    for (let count = 0; count < 6; count += 1)
      for (const gateway of [begun, elsewhere]) t.strictSame(await toldAt(gateway, bearer), all);
    const cookie = signedIn.setCookies[0]!.split(';', 1)[0]!;
    const refreshed = await elsewhere.api.refresh(cookie);
    t.strictSame(await toldAt(begun, refreshed.json.access_token), all, 'after a refresh at the other');
    t.equal((await elsewhere.api.send({ path: '/api/logout', bearer, cookie })).status, 200);
    await eventually('the session is over', async () => {
      const { status } = await begun.api.send({ path: '/api/x', bearer });
      return status === 401;
    });
  }
});
