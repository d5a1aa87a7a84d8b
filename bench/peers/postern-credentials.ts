import { request } from 'node:http';
import { type Credentials, createCredentials } from './peer.ts';

/** The activation token of the bench's configuration. */
export const bootstrapToken = 'bench-bootstrap-token-000000';

const administrator = { username: 'bench', password: 'correct horse battery staple' };

/** Activates a fresh Postern and mints its keys. */
export async function createKeys(baseUrl: string): Promise<Credentials> {
  return { header: 'X-API-Key', values: await createCredentials(await keyMint(baseUrl)) };
}

/** Activates a fresh Postern and mints a single key. */
export async function createKey(baseUrl: string): Promise<Credentials> {
  const mint = await keyMint(baseUrl);
  return { header: 'X-API-Key', values: [await mint(0)] };
}

/** Activates a fresh Postern; returns what mints a key, by its number. */
async function keyMint(baseUrl: string): Promise<(index: number) => Promise<string>> {
  await activate(baseUrl);
  const token = await signIn(baseUrl);
  return async (index) => {
    const response = await post(`${baseUrl}/api/admin/api-keys/`, {
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ label: `bench ${index}`, scopes: ['store:read'] }),
    });
    return stringField(response, 'key');
  };
}

/** Activates a fresh Postern and signs in repeatedly: each access token belongs to its own session. */
export async function createBearerTokens(baseUrl: string): Promise<Credentials> {
  await activate(baseUrl);
  const values = await createCredentials(async () => `Bearer ${await signIn(baseUrl)}`);
  return { header: 'Authorization', values };
}

/** Activates a fresh Postern and signs in repeatedly by its page: each web cookie is a browser's own session. */
export async function createWebCookies(baseUrl: string): Promise<Credentials> {
  await activate(baseUrl);
  return { header: 'Cookie', values: await createCredentials(() => signInByPage(baseUrl)) };
}

/** Activates a fresh Postern and enters a named host repeatedly: each host cookie is a browser's own session. */
export async function createHostCookies(baseUrl: string): Promise<Credentials> {
  await activate(baseUrl);
  return { header: 'Cookie', values: await createCredentials(() => enterHost(baseUrl)) };
}

async function activate(baseUrl: string): Promise<void> {
  await post(`${baseUrl}/api/bootstrap/activate`, {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token: bootstrapToken, ...administrator }),
  });
}

async function signIn(baseUrl: string): Promise<string> {
  const response = await post(`${baseUrl}/api/login/access-token`, {
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ grant_type: 'password', ...administrator }).toString(),
  });
  return stringField(response, 'access_token');
}

/** The web cookie, as `name=value`. */
async function signInByPage(baseUrl: string): Promise<string> {
  const response = await fetch(`${baseUrl}/postern/sign-in`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(administrator).toString(),
    redirect: 'manual',
  });
  await response.arrayBuffer();
  const [cookie] = response.headers.getSetCookie();
  if (response.status !== 303 || cookie === undefined) throw new Error(`sign-in page: ${response.status}`);
  return cookie.slice(0, cookie.indexOf(';'));
}

/** The cookie of the host 127.0.0.1, as `name=value`, by the way of a browser: start, sign-in, and back with a code. */
async function enterHost(baseUrl: string): Promise<string> {
  const { host: signInAuthority, port } = new URL(baseUrl);
  const host = `127.0.0.1:${port}`;
  const start = await navigate(port, host, '/postern/start?return_to=/api/x');
  const query = new URL(start.refresh).searchParams;
  const form = new URLSearchParams([...query, ...Object.entries(administrator)]).toString();
  const signedIn = await navigate(port, signInAuthority, '/postern/sign-in', { form });
  const again = await navigate(port, signInAuthority, `/postern/sign-in?${query}`, {
    cookie: signedIn.cookie,
  });
  const { pathname, search } = new URL(again.location);
  return (await navigate(port, host, pathname + search, { cookie: start.cookie })).cookie;
}

/** Sends a navigation to a host of Postern; resolves to where it leads and to the first cookie that it sets. */
function navigate(
  port: string,
  host: string,
  path: string,
  { form, cookie = '' }: { readonly form?: string; readonly cookie?: string } = {},
): Promise<{ readonly refresh: string; readonly location: string; readonly cookie: string }> {
  const headers = {
    host,
    accept: 'text/html',
    ...(cookie !== '' && { cookie }),
    ...(form !== undefined && {
      'content-type': 'application/x-www-form-urlencoded',
      origin: `http://${host}`,
    }),
  };
  return new Promise((resolve, reject) => {
    const sent = request(
      { host: '127.0.0.1', port, path, headers, method: form === undefined ? 'GET' : 'POST' },
      (response) => {
        response.resume();
        const { refresh = '', location = '', 'set-cookie': [set = ''] = [] } = response.headers;
        resolve({
          refresh: String(refresh).replace(/^0; url=/, ''),
          location,
          cookie: set.slice(0, set.indexOf(';')),
        });
      },
    );
    sent.on('error', reject).end(form);
  });
}

async function post(url: string, init: { headers: Record<string, string>; body: string }): Promise<unknown> {
  const response = await fetch(url, { method: 'POST', ...init });
  const text = await response.text();
  if (!response.ok) throw new Error(`POST ${new URL(url).pathname}: ${response.status} ${text}`);
  return JSON.parse(text);
}

function stringField(response: unknown, name: string): string {
  const value = (response as Record<string, unknown> | null)?.[name];
  if (typeof value !== 'string') throw new Error(`the answer has no "${name}"`);
  return value;
}
