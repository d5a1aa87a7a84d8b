import type { BrowserContext, Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { eventually } from '../support/eventually.ts';
import { administrator } from '../support/gateway/gateway.ts';
import { openBrowser } from '../support/pages/browser.ts';
import { type BrowserSite, heading, signIn, startBrowserSite } from '../support/pages/browser-site.ts';

t.setTimeout(600_000);

const wrong = { ...administrator, password: 'not this one' } as const;

interface Stage {
  readonly context: BrowserContext;
  readonly site: BrowserSite;
  readonly page: Page;
}

async function start(
  t: Test,
  {
    keepsPages = false,
    javaScriptEnabled = true,
  }: { keepsPages?: boolean; javaScriptEnabled?: boolean } = {},
): Promise<Stage | null> {
  const context = await openBrowser(t, { javaScriptEnabled }, { keepsPages });
  if (context === null) return null;
  const site = await startBrowserSite(t);
  const page = await context.newPage();
  page.setDefaultTimeout(10_000);
  return { context, site, page };
}

/** Goes back, with `history.back()`: a page from memory never loads, so that `page.goBack()` would wait for ever. */
async function goBack(page: Page, text: string): Promise<void> {
  // The page may be gone before it can say that it has done so.
  await page.evaluate('void (window.left = true, history.back())').catch(() => {});
  const shown = '[window.left, document.querySelector("h1")?.textContent].join()';
  await eventually(`back at ${text}`, async () => (await page.evaluate(shown)) === `,${text}`, 10_000);
}

async function openSignedIn({ page, site }: Stage, path: string): Promise<void> {
  await page.goto(`${site.origin}${path}`);
  await signIn(page);
  await page.waitForSelector('#who');
}

async function fail(page: Page): Promise<void> {
  await signIn(page, wrong);
  await page.waitForSelector('[role=alert]');
}

for (const keepsPages of [false, true]) {
  const browser = keepsPages ? 'a browser that keeps pages in memory' : 'a browser that keeps none';

  t.test(`${browser}: back from the wanted page leads to it again, not to the form`, async (t) => {
    const stage = await start(t, { keepsPages });
    if (stage === null) return;
    await openSignedIn(stage, '/orders?page=2');
    await goBack(stage.page, 'GET /orders?page=2');
    t.equal(stage.page.url(), `${stage.site.origin}/orders?page=2`);
  });

  t.test(`${browser}: back after a sign-out shows nothing of ours that was signed in`, async (t) => {
    const stage = await start(t, { keepsPages });
    if (stage === null) return;
    const { page, site } = stage;
    await openSignedIn(stage, '/orders');
    await page.goto(`${site.origin}/postern/`);
    await page.click('text=Change password');
    await page.click('text=Cancel');
    await page.click('text=Sign out');
    t.equal(await heading(page), 'You are signed out');
    for (const left of ['/postern/', '/postern/password', '/postern/']) {
      await goBack(page, 'Sign in');
      t.match(page.url(), /\/postern\/sign-in/, left);
    }
  });

  t.test(`${browser}: nor after the session has ended elsewhere`, async (t) => {
    const stage = await start(t, { keepsPages });
    if (stage === null) return;
    const { page, site, context } = stage;
    await openSignedIn(stage, '/orders');
    await page.goto(`${site.origin}/postern/`);
    await page.goto(`${site.origin}/postern/password`);
    const [cookie] = await context.cookies();
    await page.goto(`${site.origin}/postern/openapi.json`);
    site.advance(100 * 24 * 3_600_000);
    await goBack(page, 'Sign in');
    await goBack(page, 'Sign in');
    t.match(page.url(), /\/postern\/sign-in$/);
    t.ok(cookie, 'the browser had it until then');
  });

  t.test(`${browser}: back past failed sign-ins, and loading one again`, async (t) => {
    const stage = await start(t, { keepsPages });
    if (stage === null) return;
    const { page, site } = stage;
    const form = `${site.origin}/postern/sign-in?return_to=%2Forders`;
    await page.goto(`${site.origin}/orders`);
    await fail(page);
    t.equal(page.url(), form, 'the form has its address again');
    t.equal((await page.reload())?.status(), 200, 'nothing is sent again');
    await fail(page);
    await fail(page);
    await goBack(page, 'Sign in');
    await page.goForward({ waitUntil: 'commit' });
    await page.waitForURL(form);
    await signIn(page);
    t.equal(await heading(page), 'GET /orders', 'where the sign-in began');
    await goBack(page, 'GET /orders');
    await goBack(page, 'GET /orders');
    const attempts = site.logLines().filter(({ event }) => event === 'login_failed');
    t.equal(attempts.length, 3, 'each attempt was made once');
  });
}

/** What a service says of its pages, and whether the browser may still keep them in memory. */
const cacheControls = [
  ['max-age=600', false],
  ['no-store', true],
] as const;

for (const [cacheControl, keepsPages] of cacheControls)
  t.test(`back after a sign-out to a page of the service that is ${cacheControl}`, async (t) => {
    const stage = await start(t, { keepsPages });
    if (stage === null) return;
    const { page, site } = stage;
    const respond = site.upstream.response;
    site.upstream.response = (request, response, body) => {
      response.setHeader('Cache-Control', cacheControl);
      respond(request, response, body);
    };
    await openSignedIn(stage, '/orders');
    await page.goto(`${site.origin}/postern/`);
    await page.click('text=Sign out');
    await page.waitForSelector('text=You are signed out');
    await goBack(page, 'Sign in');
    await goBack(page, 'Sign in');
    t.equal(page.url(), `${site.origin}/postern/sign-in?return_to=%2Forders`);
  });

t.test('back past a wrong and a new password', async (t) => {
  const stage = await start(t);
  if (stage === null) return;
  const { page, site } = stage;
  await openSignedIn(stage, '/orders');
  await page.goto(`${site.origin}/postern/password`);
  const change = async (current: string) => {
    await page.fill('[name=current_password]', current);
    await page.fill('[name=new_password]', 'another long enough password');
    await page.click('main button[type=submit]');
  };
  await change('not this one, I fear');
  t.match(await page.textContent('.problem'), /not your current password/);
  await change(administrator.password);
  t.equal(await heading(page), 'Password changed');
  await goBack(page, 'Change your password');
  t.equal(await page.locator('.problem').count(), 0);
  await page.goForward({ waitUntil: 'commit' });
  await page.waitForSelector('h1:text-is("Change your password")');
});

t.test('without scripts the browser asks before it sends a form again', async (t) => {
  const stage = await start(t, { javaScriptEnabled: false });
  if (stage === null) return;
  const { page, site } = stage;
  await page.goto(`${site.origin}/orders`);
  await fail(page);
  await signIn(page);
  t.equal(await heading(page), 'GET /orders');
  await t.rejects(page.goBack(), /ERR_CACHE_MISS/, 'a response to a form that may not be stored');
  const isSent = async () => (await page.reload())?.status() === 401;
  t.ok(await eventually('loading it sends the form again', isSent, 20_000));
  t.equal(await heading(page), 'Sign in');
  await goBack(page, 'GET /orders');
});
