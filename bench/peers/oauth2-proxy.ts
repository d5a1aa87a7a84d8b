import { randomBytes } from 'node:crypto';
import { freePort } from '../machine.ts';
import { type IdentityProvider, startIdentityProvider } from './identity-provider.ts';
import { installedProgram, installedVersion } from './installed.ts';
import { asPeer, startListening } from './launch.ts';
import { type Credentials, createCredentials, type Peer } from './peer.ts';

/** oauth2-proxy with the session cookies of 1,000 sign-ins. */
export const oauth2ProxyCookie = createOauth2ProxyPeer({
  name: 'oauth2-proxy-cookie',
  description: 'oauth2-proxy with session cookies, after sign-ins at an OpenID provider',
  createCredentials: async (_provider, baseUrl) => ({
    header: 'Cookie',
    values: await createCredentials(() => signIn(baseUrl)),
  }),
});

/** oauth2-proxy with the ID tokens of 1,000 people as bearer tokens. */
export const oauth2ProxyJwt = createOauth2ProxyPeer({
  name: 'oauth2-proxy-jwt',
  description: "oauth2-proxy with the provider's RS256 tokens as bearer tokens",
  createCredentials: async (provider) => ({
    header: 'Authorization',
    values: (await provider.createTokens()).map((token) => `Bearer ${token}`),
  }),
});

interface Oauth2ProxyPeer {
  readonly name: string;
  readonly description: string;
  readonly createCredentials: (provider: IdentityProvider, baseUrl: string) => Promise<Credentials>;
}

function createOauth2ProxyPeer({ name, description, createCredentials }: Oauth2ProxyPeer): Peer {
  return {
    name,
    description,
    refusal: 401,
    identity: 'X-Forwarded-User',
    version: () => installedVersion('oauth2-proxy'),
    async start(surroundings) {
      const provider = await startIdentityProvider();
      const port = await freePort();
      const program = {
        name,
        command: installedProgram('oauth2-proxy'),
        args: settings(provider, port, surroundings.upstreamPort),
      };
      const proxy = await startListening(surroundings, program, port);
      const credentials = await createCredentials(provider, `http://127.0.0.1:${port}`);
      const peer = asPeer(surroundings, port, credentials, [proxy]);
      return {
        ...peer,
        async stop() {
          await peer.stop();
          provider.stop();
        },
      };
    },
  };
}

function settings(provider: IdentityProvider, port: number, upstreamPort: number): string[] {
  return [
    '--provider=oidc',
    `--oidc-issuer-url=${provider.issuer}`,
    `--client-id=${provider.audience}`,
    '--client-secret=bench',
    `--redirect-url=http://127.0.0.1:${port}/oauth2/callback`,
    `--http-address=127.0.0.1:${port}`,
    `--upstream=http://127.0.0.1:${upstreamPort}`,
    '--email-domain=*',
    `--cookie-secret=${randomBytes(16).toString('hex')}`,
    '--cookie-secure=false',
    '--skip-provider-button',
    '--skip-jwt-bearer-tokens',
    // 401 there instead of the way to the sign-in.
    '--api-route=^/api',
    '--request-logging=false',
    '--auth-logging=false',
    '--standard-logging=false',
  ];
}

/** Goes through a sign-in as a browser does; the session cookie, as `name=value`. */
async function signIn(baseUrl: string): Promise<string> {
  const start = await follow(`${baseUrl}/oauth2/start?rd=/`);
  const consent = await follow(start.location);
  const callback = await follow(consent.location, start.cookies.join('; '));
  const session = callback.cookies.find((cookie) => /^_oauth2_proxy=./.test(cookie));
  if (session === undefined) throw new Error('no session cookie after a sign-in');
  return session;
}

async function follow(url: string, cookie = ''): Promise<{ location: string; cookies: string[] }> {
  const response = await fetch(url, { redirect: 'manual', headers: { cookie } });
  await response.arrayBuffer();
  const location = response.headers.get('location');
  if (location === null) throw new Error(`${new URL(url).pathname}: ${response.status}, no redirect`);
  const cookies = response.headers.getSetCookie().map((each) => each.slice(0, each.indexOf(';')));
  return { location, cookies };
}
