import { once } from 'node:events';
import type { Server } from 'node:http';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import { Provider } from 'oidc-provider';
import { style } from './page.ts';

/** A provider to start. */
export interface LocalProviderOptions {
  /** `http://127.0.0.1:<port>`: it listens there. */
  readonly issuer: string;
  /** The front end's page that it returns to. */
  readonly redirectUri: string;
  /** Where it leads a person who has signed out; default: its own page says so. */
  readonly postLogoutRedirectUri?: string;
  /** Where it says that a person has signed out; default: nowhere. */
  readonly backChannelLogoutUri?: string;
  /** Private keys as JWK; default: a new one, so that a restart is a rotation. */
  readonly keys?: readonly JWK[];
}

/** The secret of the client `postern-secret`. */
export const clientSecret = 'known to everybody, for it is an example';

/** Who can sign in, each with any password. */
export const accounts: Readonly<Record<string, object>> = {
  alice: {
    preferred_username: 'alice',
    name: 'Alice Liddell',
    email: 'alice@example.com',
    email_verified: true,
    groups: ['admins', 'staff'],
  },
  bob: {
    preferred_username: 'bob',
    name: 'Bob Cratchit',
    email: 'bob@example.com',
    email_verified: true,
    groups: ['staff'],
  },
};

/**
 * Starts a real OpenID provider on loopback, with its login and consent pages, that forgets everything when it ends.
 * Clients: `postern` returns an ID token, `postern-public` (PKCE) and `postern-secret` return a code.
 */
export async function startLocalProvider(options: LocalProviderOptions): Promise<Server> {
  const { issuer, keys = [await generateKey()] } = options;
  const provider = withoutWarnings(
    () =>
      new Provider(issuer, {
        clients: clientsOf(options),
        jwks: { keys },
        cookies: { keys: ['the cookies of an example'] },
        responseTypes: ['code', 'id_token'],
        claims: {
          openid: ['sub'],
          profile: ['name', 'preferred_username'],
          email: ['email', 'email_verified'],
          groups: ['groups'],
        },
        // Claims of the scopes stand in the ID token, as they do with most providers: userinfo is never asked.
        conformIdTokenClaims: false,
        findAccount: (_context: unknown, id: string) => findAccount(id),
        features: { devInteractions: { enabled: true }, backchannelLogout: { enabled: true } },
        // Its own dispatcher refuses loopback, where all of this example is.
        fetch: (url: string, { dispatcher: _, ...call }: RequestInit & { dispatcher?: unknown }) =>
          fetch(url, call),
        ttl: { AccessToken: 600, Grant: 3600, IdToken: 600, Interaction: 600, Session: 3600 },
      }),
  );
  provider.use(async (context, next) => {
    await next();
    // Its pages for development come with fonts of another host.
    if (typeof context.body === 'string')
      context.body = context.body.replace(/<style>[\s\S]*?<\/style>/, `<style>${style}</style>`);
  });
  const { hostname, port } = new URL(issuer);
  const server = provider.listen(Number(port), hostname);
  await once(server, 'listening');
  return server;
}

/** Calls a function whose warnings are about use in production. */
function withoutWarnings<T>(work: () => T): T {
  const { warn } = console;
  console.warn = () => {};
  try {
    return work();
  } finally {
    console.warn = warn;
  }
}

/** A signing key as private JWK, under a name of its own. */
export async function generateKey(): Promise<JWK> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  return { ...(await exportJWK(privateKey)), kid: crypto.randomUUID(), use: 'sig', alg: 'RS256' };
}

function clientsOf(options: LocalProviderOptions): readonly object[] {
  const { redirectUri, postLogoutRedirectUri, backChannelLogoutUri } = options;
  const logout = { backchannel_logout_uri: backChannelLogoutUri, backchannel_logout_session_required: true };
  const common = {
    redirect_uris: [redirectUri],
    ...(postLogoutRedirectUri !== undefined && { post_logout_redirect_uris: [postLogoutRedirectUri] }),
    ...(backChannelLogoutUri !== undefined && logout),
  };
  const code = { ...common, response_types: ['code'], grant_types: ['authorization_code'] };
  return [
    {
      ...common,
      client_id: 'postern',
      response_types: ['id_token'],
      grant_types: ['implicit'],
      token_endpoint_auth_method: 'none',
      // A web client may not have an ID token sent to plain http, not even on loopback.
      application_type: 'native',
    },
    { ...code, client_id: 'postern-public', token_endpoint_auth_method: 'none' },
    { ...code, client_id: 'postern-secret', client_secret: clientSecret },
  ];
}

function findAccount(id: string) {
  const account = Object.hasOwn(accounts, id) ? accounts[id] : undefined;
  return account && { accountId: id, claims: () => ({ sub: id, ...account }) };
}
