import type { BrowserContext, Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { clientSecret } from '../../examples/identity-provider/provider.ts';
import { leeway } from '../support/gateway/replicas.ts';
import { openBrowser } from '../support/pages/browser.ts';
import { type BrowserSite, heading, openStreams, startBrowserSite } from '../support/pages/browser-site.ts';
import { type OidcProvider, startOidcProvider } from '../support/servers/oidc-provider.ts';

t.setTimeout(600_000);

interface Stage {
  readonly context: BrowserContext;
  readonly page: Page;
  readonly site: BrowserSite;
  readonly provider: OidcProvider;
}

/** The provider is another site to the browser: its cookies, and what the browser says of where requests come from. */
const providerHost = '127.0.0.2';

async function start(
  t: Test,
  {
    settings = {},
    javaScriptEnabled = true,
  }: { readonly settings?: object; readonly javaScriptEnabled?: boolean },
): Promise<Stage | null> {
  const context = await openBrowser(t, { javaScriptEnabled });
  if (context === null) return null;
  const site = await startBrowserSite(t);
  const provider = await startOidcProvider(t, {
    host: providerHost,
    redirectUri: `${site.origin}/postern/callback/staff`,
    postLogoutRedirectUri: `${site.origin}/postern/signed-out`,
    backChannelLogoutUri: `${site.origin}/api/login/staff/back-channel-logout`,
  });
  site.secrets.add(clientSecret);
  await site.configure({
    identity_providers: {
      staff: {
        issuer: provider.issuer,
        client_id: 'postern-secret',
        client_secret: clientSecret,
        scopes: ['openid', 'profile'],
        ...settings,
      },
    },
  });
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  return { context, page, site, provider };
}

/** At the provider, which doesn't know the browser: says who it is. */
async function typeAccount(page: Page, account: string): Promise<void> {
  await page.fill('input[name=login]', account);
  await page.fill('input[name=password]', 'any');
  await page.click('button[type=submit]');
}

/** At the provider: agrees that Postern may know. */
async function agree(page: Page): Promise<void> {
  await page.waitForSelector('input[name=prompt][value=consent]', { state: 'attached' });
  await page.click('button[type=submit]');
}

/** At the provider: agrees to be signed out there. */
async function agreeToSignOut(page: Page): Promise<void> {
  await page.click('button[name=logout]');
}

/** From a page that is wanted, by the provider, to that page. */
async function signInAt({ page, site }: Stage, path: string, account: string): Promise<void> {
  await page.goto(`${site.origin}${path}`);
  await page.click('text=Sign in with staff');
  await typeAccount(page, account);
  await agree(page);
  await page.waitForURL(`${site.origin}${path}`);
}

for (const javaScriptEnabled of [true, false]) {
  const scripts = javaScriptEnabled ? 'with scripts' : 'without scripts';

  t.test(`${scripts}: to a provider, to the wanted page, and signed out at both`, async (t) => {
    const stage = await start(t, { settings: { end_session: true }, javaScriptEnabled });
    if (stage === null) return;
    const { context, page, site, provider } = stage;
    await signInAt(stage, '/orders?page=2', 'alice');
    t.equal(await heading(page), 'GET /orders?page=2');
    t.equal(await page.textContent('#who'), 'alice');
    const [cookie] = await context.cookies(site.origin);
    t.match(cookie, { name: 'service_refresh_cookie_web', httpOnly: true, sameSite: 'Lax' });
    t.equal((await context.cookies(`${site.origin}/postern/callback`)).length, 1, 'the start left no cookie');

    await page.goto(`${site.origin}/postern/`);
    await page.click('text=Sign out');
    await page.waitForURL(`${provider.issuer}/session/end?*`);
    t.strictSame(await context.cookies(site.origin), [], 'here it has ended, whatever happens there');
    await agreeToSignOut(page);
    await page.waitForURL(`${site.origin}/postern/signed-out?*`);
    t.equal(await heading(page), 'You are signed out');
    t.notMatch(await page.textContent('main'), /still be signed in/);

    await page.goto(`${site.origin}/orders`);
    t.equal(await heading(page), 'Sign in');
    await page.click('text=Sign in with staff');
    t.ok(await page.waitForSelector('input[name=login]'), 'the provider asks again who is there');
    await typeAccount(page, 'bob');
    await agree(page);
    await page.waitForURL(`${site.origin}/orders`);
    t.equal(await page.textContent('#who'), 'bob');
  });

  t.test(`${scripts}: signed out here alone, the provider still knows the browser`, async (t) => {
    const stage = await start(t, { javaScriptEnabled });
    if (stage === null) return;
    const { page, site } = stage;
    await signInAt(stage, '/orders', 'alice');
    await page.goto(`${site.origin}/postern/`);
    await page.click('text=Sign out');
    await page.waitForURL(`${site.origin}/postern/signed-out?provider=staff`);
    t.match(await page.textContent('main'), /You may still be signed in at staff/);
    await page.click('text=Sign in again');
    await page.click('text=Sign in with staff');
    await page.waitForURL(`${site.origin}/`);
    t.match(await page.textContent('#who'), /alice/, 'nothing was asked');
  });
}

t.test('a service’s strict policy holds back no sign-out at the provider', async (t) => {
  const stage = await start(t, { settings: { end_session: true } });
  if (stage === null) return;
  const { context, page, site, provider } = stage;
  site.upstream.response = (_request, response) =>
    response
      .writeHead(200, { 'Content-Type': 'text/html', 'Content-Security-Policy': "form-action 'self'" })
      .end('<h1>Strict</h1><form method="post" action="/postern/sign-out"><button>Leave</button></form>');
  await signInAt(stage, '/strict', 'alice');
  const referrers: (string | undefined)[] = [];
  context.on('request', (request) => {
    if (request.url().startsWith(provider.issuer)) referrers.push(request.headers().referer);
  });
  await page.click('text=Leave');
  await page.waitForURL(`${provider.issuer}/session/end?*`);
  t.same(referrers, [undefined], 'the provider isn’t told from which page');
  await agreeToSignOut(page);
  await page.waitForURL(`${site.origin}/postern/signed-out?*`);
  t.equal(await heading(page), 'You are signed out');
  await page.goto(`${site.origin}/strict`);
  t.equal(await heading(page), 'Sign in');
});

t.test('a sign-in that is given up at the provider can be begun again', async (t) => {
  const stage = await start(t, {});
  if (stage === null) return;
  const { page, site } = stage;
  await page.goto(`${site.origin}/orders`);
  await page.click('text=Sign in with staff');
  await page.click('text=Cancel');
  await page.waitForURL(`${site.origin}/postern/sign-in?return_to=%2Forders`);
  t.equal(await heading(page), 'Sign in');
  t.match(await page.textContent('[role=alert]'), /did not work or took too long/);
  await page.click('text=Sign in with staff');
  await typeAccount(page, 'alice');
  await agree(page);
  await page.waitForURL(`${site.origin}/orders`);
  t.equal(await page.textContent('#who'), 'alice', 'and leads where the first was to lead');
});

t.test('a sign-out at the provider ends what the browser has open here', async (t) => {
  const stage = await start(t, {});
  if (stage === null) return;
  const { context, page, site, provider } = stage;
  await signInAt(stage, '/orders', 'alice');
  const streams = await openStreams(page);
  const there = await context.newPage();
  await there.goto(`${provider.issuer}/session/end`);
  await streams.mark();
  await agreeToSignOut(there);
  const { code, tookMs } = await streams.ended();
  t.equal(code, 1008, 'the WebSocket is closed by policy');
  t.ok(tookMs < 1_000 * leeway, `within a second: ${Math.round(tookMs)} ms`);
  await page.goto(`${site.origin}/orders?page=3`);
  t.equal(await heading(page), 'Sign in');
  t.strictSame(await context.cookies(site.origin), [], 'the browser has forgotten the session');
});
