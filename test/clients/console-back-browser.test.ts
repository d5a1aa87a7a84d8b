import type { BrowserContext, Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { administrator } from '../support/gateway/gateway.ts';
import { openBrowser } from '../support/pages/browser.ts';
import { type ConsoleGateway, settled, startConsole } from '../support/pages/console.ts';

t.setTimeout(600_000);

/** The list of keys with one on it, in a browser that keeps pages that are left. */
async function openKeys(t: Test): Promise<[ConsoleGateway, BrowserContext, Page] | null> {
  const context = await openBrowser(t, {}, { keepsPages: true });
  if (context === null) return null;
  const gateway = await startConsole(t);
  await mint(gateway, 'nightly export');
  const page = await gateway.open(context, 'administrator', 'api-keys');
  return [gateway, context, page];
}

async function mint({ api }: ConsoleGateway, label: string): Promise<void> {
  const { accessToken } = await api.signIn(administrator.username, administrator.password);
  await api.mintKey(accessToken, { label, scopes: ['store:read'] });
}

t.test('who comes back sees what there is by then', async (t) => {
  const opened = await openKeys(t);
  if (opened === null) return;
  const [gateway, , page] = opened;
  await page.goto(`${gateway.origin}/postern/`);
  await mint(gateway, 'made meanwhile');
  await page.goBack();
  await page.waitForSelector('td >> text=made meanwhile');
});

t.test('after sign-out, back leads to the sign-in page', async (t) => {
  const opened = await openKeys(t);
  if (opened === null) return;
  const [, context, page] = opened;
  const shown: string[] = [];
  await context.exposeFunction('show', (text: string) => shown.push(text));
  await context.addInitScript(
    `addEventListener('pageshow', ({ persisted }) => persisted && show(document.body.textContent));`,
  );
  await page.reload();
  await settled(page);
  await page.click('text=Sign out');
  await page.waitForURL(/signed-out/);
  await page.goBack();
  await page.waitForURL(/sign-in/);
  t.notMatch(await page.textContent('body'), 'nightly export');
  t.notMatch(shown.join(), 'nightly export');
});

t.test('a page that is kept is empty, and loads again when it comes back', async (t) => {
  const opened = await openKeys(t);
  if (opened === null) return;
  const [, , page] = opened;
  await page.evaluate(`dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))`);
  t.equal(await page.innerText('body'), '', 'no row, no name, no address');
  await Promise.all([
    page.waitForEvent('load'),
    page.evaluate(`void dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))`),
  ]);
  await settled(page);
  t.match(await page.textContent('main'), 'nightly export');
});
