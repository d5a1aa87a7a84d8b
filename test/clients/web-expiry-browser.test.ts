import type { BrowserContext, Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { openBrowser } from '../support/pages/browser.ts';
import { type BrowserSite, heading, signIn, startBrowserSite } from '../support/pages/browser-site.ts';

t.setTimeout(600_000);

/** Longer than a session may be idle. */
const idleMs = 15 * 24 * 3_600_000;

/** Someone who is signed in and has the form of the service open. */
async function startOnForm(
  t: Test,
  javaScriptEnabled = true,
): Promise<{ context: BrowserContext; site: BrowserSite; page: Page } | null> {
  const context = await openBrowser(t, { javaScriptEnabled });
  if (context === null) return null;
  const site = await startBrowserSite(t);
  const page = await context.newPage();
  await page.goto(`${site.origin}/orders/new?kind=tea`);
  await signIn(page);
  await page.waitForSelector('#order');
  return { context, site, page };
}

t.test('after the session has expired a link leads to the sign-in page, and on', async (t) => {
  const stage = await startOnForm(t);
  if (stage === null) return;
  const { context, site, page } = stage;
  await page.evaluate(`document.body.insertAdjacentHTML('beforeend', '<a href="/orders?page=2">Next</a>')`);
  site.advance(idleMs);
  await page.click('text=Next');
  t.equal(await heading(page), 'Sign in');
  t.strictSame(await context.cookies(), [], 'the browser has forgotten the session');
  await signIn(page);
  t.equal(await heading(page), 'GET /orders?page=2');
});

for (const javaScriptEnabled of [true, false])
  t.test(
    `a form sent after that is not sent on, and can be sent again, ${javaScriptEnabled ? 'with' : 'without'} scripts`,
    async (t) => {
      const stage = await startOnForm(t, javaScriptEnabled);
      if (stage === null) return;
      const { site, page } = stage;
      const sent = () => site.upstream.seen.filter(({ method }) => method === 'POST');
      await page.fill('[name=item]', 'Darjeeling');
      site.advance(idleMs);
      const refused = page.waitForResponse((response) => response.request().method() === 'POST');
      await page.click('#order');
      t.equal((await refused).status(), 401);
      t.equal(await heading(page), 'Please sign in');
      t.match(await page.textContent('main'), /nothing was done with what you sent/);
      t.equal(sent().length, 0, 'the service has seen nothing');

      await page.click('text="Sign in"');
      await signIn(page);
      await page.waitForURL(`${site.origin}/orders/new?kind=tea`);
      t.equal(await page.inputValue('[name=item]'), '', 'back at its page, which is new');
      await page.fill('[name=item]', 'Assam');
      await page.click('#order');
      t.equal(await heading(page), 'POST /orders');
      t.equal(sent().length, 1);
      t.equal(sent()[0]!.body.toString(), 'item=Assam');
    },
  );

t.test('the typed text is still there after going back', async (t) => {
  const stage = await startOnForm(t);
  if (stage === null) return;
  const { site, page } = stage;
  await page.fill('[name=item]', 'Darjeeling');
  site.advance(idleMs);
  await page.click('#order');
  t.equal(await heading(page), 'Please sign in');
  await page.click('text="Sign in"');
  await signIn(page);
  await page.waitForSelector('#order');
  // Once this has been answered: going back ends the page that would.
  await page.evaluate('void setTimeout(() => history.go(-3), 100)');
  await page.waitForFunction('document.querySelector("[name=item]")?.value === "Darjeeling"');
  await page.click('#order');
  t.equal(await heading(page), 'POST /orders');
  const sent = site.upstream.seen.find(({ method }) => method === 'POST');
  t.equal(sent?.body.toString(), 'item=Darjeeling');
});

t.test('a script learns where the sign-in page is', async (t) => {
  const stage = await startOnForm(t);
  if (stage === null) return;
  const { site, page } = stage;
  site.advance(idleMs);
  for (const method of ['GET', 'POST']) {
    const seen = await page.evaluate<{ status: number; json: Record<string, unknown> }>(
      `fetch('/orders', { method: '${method}' })
        .then(async (response) => ({ status: response.status, json: await response.json() }))`,
    );
    t.match(seen, { status: 401, json: { code: 'not_authenticated', sign_in: '/postern/sign-in' } }, method);
  }
  t.equal(
    await page.evaluate(`new Promise((resolve) => {
    const events = new EventSource('/events');
    events.onerror = () => resolve(events.readyState);
  })`),
    2,
    'an event stream does not try for ever',
  );
});
