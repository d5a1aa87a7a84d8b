import t from 'tap';
import { createApiClient } from '../support/clients/api-client.ts';
import { administrator } from '../support/gateway/gateway.ts';
import { navigation } from '../support/pages/web.ts';
import { type AskingProxy, askingProxies } from './asking-proxies.ts';
import { startBench } from './proxy-bench.ts';

t.setTimeout(300_000);

const apiPath = '/postern/api';
const config = { api_path: apiPath, web: {}, endpoints: { users: 'own' } };

for (const [name, proxy] of Object.entries<AskingProxy>(askingProxies))
  t.test(`behind ${name} the API is below the pages, and /api is the service’s`, async (t) => {
    const bench = await startBench(t, name, proxy, { config });
    if (bench === undefined) return;
    const { key, keyId, upstream, bearer } = bench;
    const api = createApiClient(bench.proxyPort, bench.secrets, undefined, apiPath);

    const before = [
      '/login/access-token',
      '/login/refresh-token',
      '/logout',
      '/admin/users/',
      '/bootstrap/activate',
    ];
    for (const path of before) {
      t.equal((await api.send({ path: `/api${path}`, apiKey: key })).status, 200, path);
      t.strictSame(upstream.seen.at(-1)!.values('x-auth-key-id'), [keyId], path);
      t.equal((await api.send({ path: `/api${path}` })).status, 401, `${path} without a credential`);
    }
    t.strictSame(
      upstream.seen.map(({ target }) => target),
      before.map((path) => `/api${path}`),
    );

    upstream.seen.length = 0;
    const own = [
      apiPath,
      `${apiPath}/`,
      `${apiPath}/nothing`,
      '/Postern/API/admin/users/',
      '/postern/nothing',
    ];
    const refused = [404, proxy.statusOf(404)];
    for (const path of own) t.ok(refused.includes((await api.send({ path, bearer })).status), path);
    if (proxy.isPartial !== true) {
      const { username, password } = administrator;
      const signedIn = await api.signIn(username, password);
      t.match(signedIn.response.setCookies, [/; Path=\/postern\/api; /]);
      t.equal((await api.refresh(signedIn.cookie)).status, 200);
      t.equal((await api.send({ path: `${apiPath}/admin/users/`, bearer })).status, 200);
      const minted = await api.mintKey(signedIn.accessToken, { label: 'k', scopes: ['store:read'] });
      t.equal((await api.send({ path: '/api/store/x', apiKey: minted.key })).status, 200);
      t.equal(upstream.seen.splice(0).length, 1);
      const page = await api.send({ path: '/postern/sign-in', headers: navigation });
      t.match(page, { status: 200, headers: { 'content-type': /^text\/html/ } });
      const { json } = await api.send({ path: '/postern/openapi.json' });
      t.ok(json.paths[`${apiPath}/login/access-token`]);
      t.equal((await api.send({ path: `${apiPath}/logout`, bearer: signedIn.accessToken })).status, 200);
    }
    t.equal(upstream.seen.length, 0, 'the service sees nothing of it');
  });
