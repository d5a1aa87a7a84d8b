import type { BrowserContext } from 'playwright-core';
import t from 'tap';
import type { ApiResponse } from '../support/clients/api-client.ts';
import { eventually } from '../support/eventually.ts';
import { openBrowser } from '../support/pages/browser.ts';
import { heading, respondWithPage, signIn } from '../support/pages/browser-site.ts';
import { leadsTo } from '../support/pages/hosts.ts';
import { type HostsSite, startHostsSite } from '../support/pages/hosts-site.ts';
import { navigation } from '../support/pages/web.ts';

t.setTimeout(600_000);

/** A page whose browser loads addresses ahead of time in every way there is; `prerendered`: of its own origin. */
function eagerPage(prefetched: readonly string[], prerendered: readonly string[]): string {
  const eager = (urls: readonly string[]) => [{ source: 'list', urls, eagerness: 'immediate' }];
  const rules = { prefetch: eager(prefetched), prerender: eager(prerendered) };
  return `<!doctype html><h1>Eager</h1>
    ${prefetched.map((url) => `<link rel="prefetch" href="${url.replaceAll('&', '&amp;')}">`).join('')}
    <script type="speculationrules">${JSON.stringify(rules)}</script>`;
}

/** What the browser gets that opens an address, with its cookies; those that are set it keeps. */
async function open(context: BrowserContext, { api }: HostsSite, url: string): Promise<ApiResponse> {
  const { host, pathname, search } = new URL(url);
  const held = await context.cookies(url);
  const cookie = held.map(({ name, value }) => `${name}=${value}`).join('; ');
  const response = await api.send({ path: pathname + search, headers: { host, ...navigation }, cookie });
  for (const line of response.setCookies) {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line)!;
    await context.addCookies([{ name, value, url }]);
  }
  return response;
}

/** An address at which the browser would enter a host, not spent. */
async function entryOf(context: BrowserContext, site: HostsSite, origin: string): Promise<string> {
  const started = await open(context, site, `${origin}/postern/start?return_to=/wanted`);
  return (await open(context, site, leadsTo(started)!)).headers.location!;
}

t.test('what Chromium loads ahead of time begins, spends and enters nothing', async (t) => {
  const context = await openBrowser(t);
  if (context === null) return;
  const site = await startHostsSite(t, { scheme: 'http' });
  const { at } = site;
  const page = await context.newPage();
  await page.goto(`${at.wiki}/one`);
  await signIn(page);
  await page.waitForURL(`${at.wiki}/one`);
  const code = await entryOf(context, site, at.wiki);
  const signInThere = leadsTo(await open(context, site, `${at.shop}/postern/start`))!;
  await context.clearCookies({ domain: new URL(at.shop).hostname });

  let eager = '';
  site.upstream.response = (request, response) => {
    if (request.url !== '/eager') respondWithPage(request, response);
    else response.writeHead(200, { 'Content-Type': 'text/html' }).end(eager);
  };
  const ahead = ['/postern/start?return_to=/x', code, `${at.shop}/orders`, signInThere];
  eager = eagerPage(ahead, ['/postern/start?return_to=/y', code]);
  const before = site.logLines().length;
  await page.goto(`${at.wiki}/eager`);
  const lines = (path: string) =>
    site
      .logLines()
      .slice(before)
      .filter((line) => line.msg === 'request' && line.path === path);
  for (const path of ['/postern/start', '/postern/enter', '/postern/sign-in', '/orders'])
    await eventually(`${path} is asked for`, () => lines(path).length > 0);
  for (const path of ['/postern/start', '/postern/enter', '/postern/sign-in'])
    t.ok(
      lines(path).every(({ status, outcome }) => status === 403 && outcome === 'prefetch'),
      `${path}: ${JSON.stringify(lines(path).map(({ status, outcome }) => [status, outcome]))}`,
    );
  t.notOk(site.upstream.seen.some(({ target }) => target === '/orders'));
  t.same(await context.cookies(at.shop), [], 'nothing begins at the other host');

  await page.goto(code);
  await page.waitForURL(`${at.wiki}/wanted`);
  t.equal(await heading(page), 'GET /wanted', 'the code is not spent');
  await page.goto(`${at.shop}/orders`);
  await page.waitForURL(`${at.shop}/orders`);
  t.equal(await heading(page), 'GET /orders', 'a click leads in without a question');
});
