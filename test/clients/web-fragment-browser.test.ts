import t from 'tap';
import { clientSecret } from '../../examples/identity-provider/provider.ts';
import { openBrowser } from '../support/pages/browser.ts';
import { heading, signIn, startBrowserSite } from '../support/pages/browser-site.ts';
import { startHostsSite } from '../support/pages/hosts-site.ts';
import { startOidcProvider } from '../support/servers/oidc-provider.ts';

t.setTimeout(600_000);

/** Addresses of the application, and where a sign-in that was asked for there leads. */
const addresses: Readonly<Record<string, string>> = {
  '/app/next?x=1#section': '/app/next?x=1#section',
  '/app/#/orders/5': '/app/#/orders/5',
  '/app/#/orders/5?page=2#a': '/app/#/orders/5?page=2#a',
  '/#top': '/#top',
  '/app?x=1#/a//b': '/app?x=1#/a//b',
  '/app#//evil.example/\\': '/app#/%2Fevil.example/%5C',
  '/app#///a//': '/app#/%2F/a/%2F',
  '/app#caf\u00e9 \u2603&y=2': '/app#caf%C3%A9%20%E2%98%83&y=2',
  '/app#javascript:alert(1)': '/app#javascript:alert(1)',
  '/app#@evil.example': '/app#@evil.example',
  // Too long for both: the page matters more.
  [`/app?${'x'.repeat(1_900)}#${'y'.repeat(200)}`]: `/app?${'x'.repeat(1_900)}`,
};

t.test('the fragment of a page that was asked for survives the sign-in', async (t) => {
  const context = await openBrowser(t);
  if (context === null) return;
  const { origin } = await startBrowserSite(t);
  const page = await context.newPage();
  for (const [asked, arrived] of Object.entries(addresses)) {
    const shown = asked.slice(0, 60);
    await context.clearCookies();
    // Another fragment alone would load nothing.
    await page.goto('about:blank');
    await page.goto(origin + asked);
    t.equal(await heading(page), 'Sign in', shown);
    await signIn(page, { username: 'nobody', password: 'wrong' });
    await page.waitForSelector('[role=alert]:visible');
    await signIn(page);
    await page.waitForURL(`${origin}/**`);
    await page.waitForSelector('#who');
    t.equal(page.url(), origin + arrived, shown);
    await page.goto('about:blank');
    await page.goto(origin + asked);
    t.equal(page.url(), new URL(asked, origin).href, `${shown}, signed in`);
  }
});

t.test('and that of one who signs in at a provider', async (t) => {
  const context = await openBrowser(t);
  if (context === null) return;
  const site = await startBrowserSite(t);
  const provider = await startOidcProvider(t, {
    host: '127.0.0.2',
    redirectUri: `${site.origin}/postern/callback/staff`,
  });
  const staff = { issuer: provider.issuer, client_id: 'postern-secret', client_secret: clientSecret };
  await site.configure({ identity_providers: { staff: { ...staff, scopes: ['openid', 'profile'] } } });
  const page = await context.newPage();
  await page.goto(`${site.origin}/orders?page=2#/lines/3`);
  await page.click('text=Sign in with staff');
  await page.waitForSelector('input[name=login]');
  await page.fill('input[name=login]', 'alice');
  await page.fill('input[name=password]', 'any');
  await page.click('button[type=submit]');
  await page.waitForSelector('input[name=prompt][value=consent]', { state: 'attached' });
  await page.click('button[type=submit]');
  await page.waitForSelector('#who');
  t.equal(page.url(), `${site.origin}/orders?page=2#/lines/3`);
});

t.test('without scripts the page is there all the same', async (t) => {
  const context = await openBrowser(t, { javaScriptEnabled: false });
  if (context === null) return;
  const { origin } = await startBrowserSite(t);
  const page = await context.newPage();
  await page.goto(`${origin}/app?x=1#section`);
  await signIn(page);
  await page.waitForSelector('#who');
  t.equal(new URL(page.url()).search, '?x=1');
});

t.test('and that of a page at a named host, also when no question is asked', async (t) => {
  const context = await openBrowser(t);
  if (context === null) return;
  const { at } = await startHostsSite(t, { scheme: 'http' });
  const page = await context.newPage();
  await page.goto(`${at.wiki}/orders?page=2#/lines/3`);
  await page.waitForURL(/\/postern\/sign-in\?/);
  await signIn(page);
  await page.waitForURL(`${at.wiki}/orders?page=2#/lines/3`);
  for (const path of ['/orders#/a', '/orders?x=1#/a//b', '/']) {
    await context.clearCookies({ name: /_at$/ });
    await page.goto('about:blank');
    await page.goto(at.shop + path);
    await page.waitForURL(at.shop + path);
    t.equal(page.url(), at.shop + path);
  }
});
