import t from 'tap';
import { openBrowser, openBrowserWithoutCookies } from '../support/pages/browser.ts';
import { heading, signIn, startBrowserSite } from '../support/pages/browser-site.ts';
import { startReturningProvider } from '../support/servers/returning-provider.ts';

t.setTimeout(600_000);

for (const javaScriptEnabled of [true, false])
  t.test(`who blocks cookies is told, ${javaScriptEnabled ? 'with' : 'without'} scripts`, async (t) => {
    const context = await openBrowserWithoutCookies(t, { javaScriptEnabled });
    if (context === null) return;
    const { origin } = await startBrowserSite(t);
    const page = await context.newPage();
    for (const path of ['/orders?page=2', '/postern/']) {
      await page.goto(origin + path);
      t.equal(await heading(page), 'Sign in');
      if (javaScriptEnabled) {
        await page.waitForSelector('[role=alert]:visible');
        t.match(await page.textContent('[role=alert]'), /Your browser blocks cookies here/, 'before');
      } else t.notOk(await page.isVisible('[role=alert]'));
      await signIn(page);
      await page.waitForURL('**&again=1').catch(() => page.waitForURL('**?again=1'));
      t.equal(await heading(page), 'Sign in');
      t.match(await page.textContent('[role=alert]'), /did not keep the cookie/, 'and after the sign-in');
      await signIn(page);
      await page.waitForLoadState();
      t.match(await page.textContent('[role=alert]'), /did not keep the cookie/, 'however often');
    }
  });

t.test('who blocks cookies is told after a provider’s sign-in, too', async (t) => {
  const context = await openBrowserWithoutCookies(t, { javaScriptEnabled: false });
  if (context === null) return;
  const { origin, configure } = await startBrowserSite(t);
  const issuer = await startReturningProvider(t);
  const page = await context.newPage();
  const staff = { issuer, client_id: 'postern' };
  for (const web of [{}, { password: false }]) {
    await configure({ web, identity_providers: { staff } });
    await page.goto(`${origin}/orders`);
    if (!('password' in web)) await page.click('text=Sign in with staff');
    await page.waitForURL(`${origin}/postern/callback/staff?*`);
    t.match(await page.textContent('[role=alert]:visible'), /allow cookies for this site/);
  }
});

t.test('who keeps cookies is told nothing', async (t) => {
  const context = await openBrowser(t);
  if (context === null) return;
  const { origin } = await startBrowserSite(t);
  const page = await context.newPage();
  await page.goto(`${origin}/orders`);
  t.notOk(await page.isVisible('[role=alert]'));
  await signIn(page);
  await page.waitForURL(`${origin}/orders`);
  await context.clearCookies();
  await page.goto(`${origin}/orders`);
  t.notOk(await page.isVisible('[role=alert]'));
});
