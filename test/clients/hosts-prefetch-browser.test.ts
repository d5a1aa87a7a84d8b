import type { BrowserContext, Page } from 'playwright-core';
import t, { type Test } from 'tap';
import type { ApiResponse } from '../support/clients/api-client.ts';
import { eventually } from '../support/eventually.ts';
import { openBrowser } from '../support/pages/browser.ts';
import { heading, respondWithPage, signIn } from '../support/pages/browser-site.ts';
import { leadsTo } from '../support/pages/hosts.ts';
import { type HostsSite, startHostsSite } from '../support/pages/hosts-site.ts';
import { navigation } from '../support/pages/web.ts';
import {
  type Exchange,
  type RecordingRelay,
  startRecordingRelay,
} from '../support/servers/recording-relay.ts';

t.setTimeout(600_000);

/** The ways in which pages have Chromium load addresses ahead of time, and how such requests look. */
const ways = {
  'a link': { purpose: 'prefetch', destination: 'empty' },
  'a rule to prefetch': { purpose: 'prefetch', destination: 'document', rule: 'prefetch' },
  'a rule to prerender': { purpose: 'prefetch;prerender', destination: 'document', rule: 'prerender' },
} as const;
type Way = (typeof ways)[keyof typeof ways];

/** A page that has its browser load addresses at once, and links to them. */
function eagerPage(way: Way, urls: readonly string[]): string {
  const escaped = urls.map((url) => url.replaceAll('&', '&amp;'));
  const links = escaped.map((url, index) => `<a id="link${index}" href="${url}">${index}</a>`).join(' ');
  const ahead =
    'rule' in way
      ? `<script type="speculationrules">${JSON.stringify({ [way.rule]: [{ source: 'list', urls, eagerness: 'immediate' }] })}</script>`
      : escaped.map((url) => `<link rel="prefetch" href="${url}">`).join('');
  return `<!doctype html><title>Eager</title><h1>Eager</h1>${links}${ahead}`;
}

/** Chromium, whose requests are recorded on their way to a gateway with many hosts. */
interface Stage {
  readonly context: BrowserContext;
  readonly page: Page;
  readonly site: HostsSite;
  readonly relay: RecordingRelay;
  readonly way: Way;
}

/**
 * Opens a page at `address` that loads `urls` ahead of time, waits until each has been asked for and answered, and checks what
 * was answered: a step of the way in is refused, and nothing at all is remembered.
 */
async function loadAhead(t: Test, stage: Stage, address: string, urls: readonly string[]): Promise<void> {
  const { context, page, site, relay, way } = stage;
  site.upstream.response = (request, response) => {
    if (!request.url!.endsWith('/eager')) respondWithPage(request, response);
    else response.writeHead(200, { 'Content-Type': 'text/html' }).end(eagerPage(way, urls));
  };
  const before = new Set(relay.exchanges().map(({ id }) => id));
  const held = await context.cookies();
  const passed = site.upstream.seen.length;
  await page.goto(address);
  const ahead = () =>
    relay
      .exchanges()
      .filter((each) => !before.has(each.id) && each.sent('sec-purpose') !== undefined && each.status !== 0);
  const urlOf = ({ host, target }: Exchange) => `http://${host}${target}`;
  for (const url of urls)
    await eventually(`${url} is loaded ahead`, () => ahead().some((each) => urlOf(each) === url));
  // By rules Chromium goes where it is led; by links it takes a redirect for the answer.
  const isFollowed = ({ host, location }: Exchange) =>
    location === undefined ||
    ahead().some((each) => urlOf(each) === new URL(location, `http://${host}`).href);
  if ('rule' in way) await eventually('redirects are followed', () => ahead().every(isFollowed));
  for (const each of ahead()) {
    const isConsole = each.host === new URL(site.at.console).host;
    const isStep = /^\/postern\/(?:start|enter|sign-in)\b/.test(each.target) && !isConsole;
    t.same(
      [each.sent('sec-purpose'), each.sent('sec-fetch-dest'), each.status === 403, each.setCookies],
      [way.purpose, way.destination, isStep, []],
      `${urlOf(each)} is ${each.status}`,
    );
  }
  t.same(await context.cookies(), held, 'the browser remembers nothing');
  const reached = site.upstream.seen.slice(passed).filter(({ target }) => target.startsWith('/orders'));
  t.same(reached, [], 'no service is asked for what it guards');
  const lines = site.logLines().filter((line) => line.status === 403);
  t.same([...new Set(lines.map(({ outcome }) => outcome))], ['prefetch']);
}

/** What the browser gets that opens an address, with its cookies; those that are set it keeps. */
async function open({ context, site }: Stage, url: string): Promise<ApiResponse> {
  const { host, pathname, search } = new URL(url);
  const held = await context.cookies(url);
  const cookie = held.map(({ name, value }) => `${name}=${value}`).join('; ');
  const headers = { host, ...navigation };
  const response = await site.api.send({ path: pathname + search, headers, cookie });
  for (const line of response.setCookies) {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line)!;
    await context.addCookies([{ name, value, url }]);
  }
  return response;
}

/** Follows a link of the page that is shown, which leads to a page of a service in the end. */
async function follow({ page }: Stage, index: number, url: string): Promise<void> {
  await page.click(`#link${index}`);
  await page.waitForURL(url);
}

t.test('what Chromium loads ahead of time begins, spends and enters nothing', async (t) => {
  const site = await startHostsSite(t, { scheme: 'http' });
  const relay = await startRecordingRelay(t, Number(new URL(site.at.wiki).port));
  const first = await openBrowser(t, {}, { resolver: `MAP * 127.0.0.1:${relay.port}` });
  if (first === null) return;
  for (const [name, way] of Object.entries(ways))
    await t.test(`by ${name}`, async (t) => {
      const context = await first.browser()!.newContext();
      const page = await context.newPage();
      page.setDefaultTimeout(20_000);
      await judgeWay(t, { context, page, site, relay, way });
    });
});

async function judgeWay(t: Test, stage: Stage): Promise<void> {
  const { context, page, site, relay } = stage;
  const { at } = site;
  const never = new URLSearchParams({ return_to: `${at.shop}/never`, start: 'A'.repeat(43) });
  const ahead = [
    `${at.wiki}/orders`,
    `${at.shop}/orders`,
    `${at.wiki}/postern/start?return_to=/x`,
    `${at.preview}/postern/start?return_to=/x`,
    `${at.signIn}/postern/sign-in?${never}`,
    `${at.console}/postern/console/`,
  ];

  await loadAhead(t, stage, `${at.wiki}/open/eager`, [...ahead, `${at.wiki}/postern/enter?code=none`]);
  t.same(await context.cookies(), [], 'signed out there is no cookie at all');
  await page.click('#link0');
  await page.waitForURL(`${at.signIn}/postern/sign-in?*`);
  await signIn(page);
  await page.waitForURL(`${at.wiki}/orders`);
  t.equal(await page.textContent('#who'), 'ada', 'whom a link leads to the sign-in gets in');

  // From here on signed in at base_url alone.
  await context.clearCookies({ name: /_at$/ });
  const started = await open(stage, `${at.wiki}/postern/start?return_to=/wanted`);
  const code = (await open(stage, leadsTo(started)!)).headers.location!;
  t.match(code, '/postern/enter?code=');
  await loadAhead(t, stage, `${at.wiki}/open/eager`, [...ahead, code]);
  await follow(stage, ahead.length, `${at.wiki}/wanted`);
  t.equal(await heading(page), 'GET /wanted');
  const opened = relay
    .exchanges()
    .filter((each) => code.endsWith(each.target) && each.sent('sec-purpose') === undefined);
  t.same(
    opened.map(({ status, location, setCookies }) => [status, location, setCookies.length]),
    [[303, '/wanted', 2]],
    'the code was not spent: host cookie, start cookie cleared',
  );
  await page.goto(`${at.wiki}/open/eager`);
  await follow(stage, 1, `${at.shop}/orders`);
  t.equal(await page.textContent('#who'), 'ada', 'a link to the next host leads in without a question');

  const signInThere = leadsTo(await open(stage, `${at.preview}/postern/start?return_to=/there`))!;
  await loadAhead(t, stage, `${at.signIn}/app/eager`, [signInThere]);
  await follow(stage, 0, `${at.preview}/there`);
  t.equal(
    await page.textContent('#who'),
    'ada',
    'the sign-in, of its own origin, leads on when it is opened',
  );
  await page.goto(ahead[5]!);
  t.equal(await heading(page), 'Sign in', 'the console asks for itself');
  t.same(await context.cookies(at.console), []);
}
