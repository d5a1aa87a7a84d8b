import t from 'tap';
import { clientSecret } from '../../examples/identity-provider/provider.ts';
import { createHttpBrowser } from '../support/clients/http-browser.ts';
import { startTestGateway } from '../support/gateway/gateway.ts';
import { cookieNamed, navigation } from '../support/pages/web.ts';
import { startOidcProvider } from '../support/servers/oidc-provider.ts';

const base = 'http://127.0.0.1:9';
const redirectUri = `${base}/postern/callback/corp`;
const provider = await startOidcProvider(t, { redirectUri });
const gateway = await startTestGateway(t, {
  config: {
    base_url: base,
    web: {},
    identity_providers: {
      corp: {
        issuer: provider.issuer,
        client_id: 'postern-secret',
        client_secret: clientSecret,
        scopes: ['openid', 'profile', 'email', 'groups'],
        end_session: true,
        keep: { groups: '/groups', first: '/groups/0', name: 'name', verified: 'email_verified' },
      },
    },
    upstreams: {
      app: {
        url: 'builtin:echo',
        identity_headers: {
          'Remote-Groups': 'claim:groups',
          'Remote-Group': 'claim:first',
          'Remote-Name': { from: 'claim:name', encoding: 'utf8' },
          'X-Verified': 'claim:verified',
          'X-Role': { from: 'claim:groups', first: [{ admins: 'Admin' }], else: 'Viewer' },
        },
      },
    },
    routes: [{ prefix: '/app', upstream: 'app', browser: true }],
  },
});
gateway.secrets.add(clientSecret);

/** The headers, by name, that the application gets of a browser whose account has signed in on the pages. */
async function openAs(account: string): Promise<Record<string, string>> {
  const { api } = gateway;
  const left = await api.send({ path: '/postern/sign-in/corp', headers: navigation });
  const start = left.setCookies[0]!.split(';', 1)[0]!;
  const there = createHttpBrowser();
  const back = await there.signInAt(left.headers.location!, account, redirectUri);
  gateway.secrets.add(back.searchParams.get('code')!);
  const path = `${back.pathname}${back.search}`;
  const signedIn = await api.send({ path, headers: navigation, cookie: start });
  const cookie = cookieNamed(signedIn, 'service_refresh_cookie_web');
  const { json } = await api.send({ path: '/app', cookie });
  return Object.fromEntries(json.headers);
}

t.test('an application is told what a real provider says of people who sign in on the pages', async (t) => {
  t.match(await openAs('alice'), {
    'X-Auth-Username': 'alice',
    'Remote-Groups': 'admins,staff',
    'Remote-Group': 'admins',
    'Remote-Name': 'Alice Liddell',
    'X-Verified': 'true',
    'X-Role': 'Admin',
  });
  t.match(await openAs('bob'), {
    'X-Auth-Username': 'bob',
    'Remote-Groups': 'staff',
    'Remote-Group': 'staff',
    'Remote-Name': 'Bob Cratchit',
    'X-Role': 'Viewer',
  });
});
