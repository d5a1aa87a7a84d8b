import t from 'tap';
import { openBrowser } from '../support/pages/browser.ts';
import { signIn, startBrowserSite } from '../support/pages/browser-site.ts';

t.setTimeout(600_000);

t.test('the sign-in page under another name leads to base_url', async (t) => {
  const context = await openBrowser(t);
  if (context === null) return;
  const { origin } = await startBrowserSite(t);
  const page = await context.newPage();
  await page.goto(`${origin.replace('127.0.0.1', 'localhost')}/orders?page=2`);
  await page.waitForSelector('[role=alert]:visible');
  t.match(await page.textContent('[role=alert]'), `This service is at ${origin}.`);
  await page.focus('[role=alert] a');
  await page.keyboard.press('Enter');
  await page.waitForURL(`${origin}/postern/sign-in?return_to=*`);
  await page.waitForLoadState('networkidle');
  t.notOk(await page.isVisible('[role=alert]'), 'nothing to tell there');
  await signIn(page);
  await page.waitForURL(`${origin}/orders?page=2`);
});
