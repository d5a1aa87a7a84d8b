import { readFileSync } from 'node:fs';
import t, { type Test } from 'tap';
import { parse } from 'yaml';
import { administrator, bootstrapToken, startTestGateway } from '../support/gateway/gateway.ts';

const guide = readFileSync(new URL('../../docs/front-ends.md', import.meta.url), 'utf8');
const blockOf = (language: string) => new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``).exec(guide)![1]!;
const origin = 'https://app.example.com';

/** Functions of the page's code, in one tab. */
interface Tab {
  signIn(username: string, password: string): Promise<void>;
  refresh(): Promise<void>;
  call(path: string, options?: RequestInit): Promise<Response>;
  signOut(): Promise<void>;
}

/** A browser on the page's origin, as far as fetch needs one: cookies, and the headers that it adds by itself. */
function createBrowser(t: Test) {
  const cookies = new Map<string, string>();
  const paths: string[] = [];
  const browserFetch = async (url: string, options: RequestInit = {}): Promise<Response> => {
    paths.push(new URL(url).pathname);
    const headers = new Headers(options.headers);
    headers.set('Origin', origin);
    headers.set('Sec-Fetch-Site', 'same-site');
    if (options.credentials === 'include')
      headers.set('Cookie', [...cookies].map(([name, value]) => `${name}=${value}`).join('; '));
    const response = await fetch(url, { ...options, headers });
    t.equal(response.headers.get('access-control-allow-origin'), origin, 'the page may read the response');
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line)!;
      if (value === '' || /max-age=0/i.test(line)) cookies.delete(name);
      else cookies.set(name, value);
    }
    return response;
  };
  return {
    cookies,
    paths,
    openTab(gateway: string): Tab {
      const code = blockOf('js')
        .replace('https://api.example.com', gateway)
        .replace(/^export /gm, '');
      return new Function('fetch', `${code}\nreturn { signIn, refresh, call, signOut };`)(browserFetch);
    },
  };
}

/** The status with which the page's code throws; undefined if it doesn't. */
const statusOf = (work: Promise<unknown>): Promise<number | undefined> =>
  work.then(
    () => undefined,
    (error) => error.status,
  );

async function startBehindPage(t: Test) {
  const gateway = await startTestGateway(t, {
    config: { cors: parse(blockOf('yaml')).cors, endpoints: { self: 'own' } },
  });
  await gateway.api.activate(administrator.username, administrator.password, bootstrapToken);
  const browser = createBrowser(t);
  return { ...gateway, browser, openTab: () => browser.openTab(`http://127.0.0.1:${gateway.port}`) };
}

t.test('signs in, calls the service, reloads, signs out', async (t) => {
  const { upstream, browser, advance, openTab } = await startBehindPage(t);
  const tab = openTab();
  t.equal(await statusOf(tab.refresh()), 401, 'no one has signed in yet');
  t.equal(await statusOf(tab.signIn(administrator.username, 'not the password')), 401);
  await tab.signIn(administrator.username, administrator.password);
  t.equal((await tab.call('/api/store/asset/1', { headers: { Accept: 'text/plain' } })).status, 200);
  const seen = upstream.seen.at(-1)!;
  t.equal(seen.target, '/api/store/asset/1');
  t.strictSame(seen.values('x-auth-username'), [administrator.username]);
  t.strictSame(seen.values('accept'), ['text/plain']);

  const self: any = await (await tab.call('/api/self')).json();
  t.equal(self.username, administrator.username);
  t.ok('display_name' in self && self.scopes.includes('store:read'));

  const reloaded = openTab();
  t.equal((await reloaded.call('/api/store/asset/2')).status, 200, 'the cookie gives a new token');
  advance(11 * 60_000);
  await reloaded.signOut();
  t.equal(browser.cookies.size, 0, 'signed out, also with a token that has ended');
  t.equal(await statusOf(tab.call('/api/store/asset/3')), 401, 'the other tab is signed out, too');
});

t.test(
  'an access token that has ended is replaced, and the request is sent again with its body',
  async (t) => {
    const { upstream, browser, advance, openTab } = await startBehindPage(t);
    const tab = openTab();
    await tab.signIn(administrator.username, administrator.password);
    // The page's own clock doesn't know: the response is 401.
    advance(11 * 60_000);
    browser.paths.length = 0;
    const response = await tab.call('/api/store/asset/1', { method: 'PUT', body: 'three' });
    t.equal(response.status, 200);
    t.strictSame(browser.paths, ['/api/store/asset/1', '/api/login/refresh-token', '/api/store/asset/1']);
    t.equal(upstream.seen.at(-1)!.body.toString(), 'three');
  },
);

t.test('five tabs that refresh at the same moment stay signed in, with one request a tab', async (t) => {
  const { browser, advance, openTab } = await startBehindPage(t);
  await openTab().signIn(administrator.username, administrator.password);
  for (const round of [1, 2, 3]) {
    advance(11 * 60_000);
    const tabs = Array.from({ length: 5 }, openTab);
    browser.paths.length = 0;
    const responses = await Promise.all(
      tabs.flatMap((tab) => [tab.call('/api/store/1'), tab.call('/api/store/2'), tab.call('/api/store/3')]),
    );
    t.ok(
      responses.every(({ status }) => status === 200),
      `round ${round}`,
    );
    t.equal(browser.paths.filter((path) => path === '/api/login/refresh-token').length, 5);
  }
});
