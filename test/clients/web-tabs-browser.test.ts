import type { BrowserContext, Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { administrator } from '../support/gateway/gateway.ts';
import { leeway } from '../support/gateway/replicas.ts';
import { openBrowser } from '../support/pages/browser.ts';
import {
  type BrowserSite,
  heading,
  openStreams,
  signIn,
  startBrowserSite,
} from '../support/pages/browser-site.ts';

t.setTimeout(600_000);

const grace = { username: 'grace', password: 'a compiler of her own' } as const;

interface Stage {
  readonly context: BrowserContext;
  readonly site: BrowserSite;
  /** Two tabs of one browser. */
  readonly tabs: readonly [Page, Page];
}

async function start(t: Test): Promise<Stage | null> {
  const context = await openBrowser(t);
  if (context === null) return null;
  const site = await startBrowserSite(t, { config: { endpoints: { users: 'own' } } });
  return { context, site, tabs: [await context.newPage(), await context.newPage()] };
}

async function inviteGrace({ api }: BrowserSite): Promise<void> {
  const { accessToken: bearer } = await api.signIn(administrator.username, administrator.password);
  const path = '/api/admin/users/';
  const { json: user } = await api.send({ method: 'POST', path, bearer, json: { username: grace.username } });
  const { json } = await api.send({ method: 'POST', path: `${path}${user.id}/invitation`, bearer });
  const redeemed = { token: json.token, password: grace.password };
  await api.send({ method: 'POST', path: '/api/login/invitation', json: redeemed });
}

const who = (page: Page) => page.textContent('#who');
/** What a script of the page gets. */
const fetched = (page: Page) =>
  page.evaluate<{ readonly status: number; readonly text: string }>(
    `fetch('/orders').then(async (response) => ({ status: response.status, text: await response.text() }))`,
  );

t.test('a sign-in in both tabs leaves both signed in', async (t) => {
  const stage = await start(t);
  if (stage === null) return;
  const { context, site, tabs } = stage;
  const [one, other] = tabs;
  for (const tab of tabs) await tab.goto(`${site.origin}/orders`);
  await signIn(one);
  t.equal(await heading(one), 'GET /orders');
  const [first] = await context.cookies();
  const streams = await openStreams(one);

  await streams.mark();
  await signIn(other);
  t.equal(await heading(other), 'GET /orders');
  const [second] = await context.cookies();
  t.not(second!.value, first!.value, 'another session');
  const { tookMs } = await streams.ended();
  t.ok(tookMs < 1_000 * leeway, 'what the session before had open has ended');
  t.equal((await fetched(one)).status, 200);
  await openStreams(one);
  await one.click('#order');
  t.equal(await heading(one), 'POST /orders', 'a form of the session before can be sent');
  const sessions = site.logLines().filter(({ event }) => event === 'session_revoked');
  t.equal(sessions.length, 1);
});

t.test('a sign-out in one tab is one in the other', async (t) => {
  const stage = await start(t);
  if (stage === null) return;
  const { context, site, tabs } = stage;
  const [one, other] = tabs;
  await one.goto(`${site.origin}/orders`);
  await signIn(one);
  await other.goto(`${site.origin}/postern/`);
  const third = await context.newPage();
  await third.goto(`${site.origin}/postern/`);
  const streams = await openStreams(one);

  await streams.mark();
  await other.click('text=Sign out');
  t.equal(await heading(other), 'You are signed out');
  const { code, tookMs } = await streams.ended();
  t.equal(code, 1008);
  t.ok(tookMs < 1_000 * leeway, `within a second: ${Math.round(tookMs)} ms`);
  t.match(await fetched(one), { status: 401, text: /"sign_in":"\/postern\/sign-in"/ });
  await third.click('text=Sign out');
  t.equal(await heading(third), 'You are signed out', 'once more does no harm');
  await one.reload();
  t.equal(await heading(one), 'Sign in');
});

t.test('a new password in one tab, and what the other tab and another browser have', async (t) => {
  const stage = await start(t);
  if (stage === null) return;
  const { context, site, tabs } = stage;
  const [one, other] = tabs;
  await one.goto(`${site.origin}/orders`);
  await signIn(one);
  const elsewhere = await (await context.browser()!.newContext()).newPage();
  await elsewhere.goto(`${site.origin}/orders`);
  await signIn(elsewhere);
  const streams = await openStreams(one);
  const streamsElsewhere = await openStreams(elsewhere);
  const third = await context.newPage();
  for (const page of [other, third]) await page.goto(`${site.origin}/postern/password`);

  const change = async (page: Page, current: string, next: string) => {
    await page.fill('[name=current_password]', current);
    await page.fill('[name=new_password]', next);
    await page.click('main button[type=submit]');
  };
  await streamsElsewhere.mark();
  await change(other, administrator.password, 'another long enough password');
  t.equal(await heading(other), 'Password changed');
  await streamsElsewhere.ended();
  await elsewhere.reload();
  t.equal(await heading(elsewhere), 'Sign in', 'the other browser has to sign in');
  t.ok(await streams.areOpen(), 'what this browser has open goes on');
  await one.reload();
  t.equal(await who(one), 'ada');
  await change(third, administrator.password, 'yet another long password');
  t.match(await third.textContent('.problem'), /not your current password/, 'a form from before says so');
});

t.test('whoever signs in with a form from before is who both tabs belong to', async (t) => {
  const stage = await start(t);
  if (stage === null) return;
  const { site, tabs } = stage;
  const [one, other] = tabs;
  await inviteGrace(site);
  for (const tab of tabs) await tab.goto(`${site.origin}/orders`);
  await signIn(one);
  t.equal(await who(one), 'ada');
  const password = await stage.context.newPage();
  await password.goto(`${site.origin}/postern/password`);
  await signIn(other, grace);
  t.equal(await who(other), 'grace');
  await one.click('#order');
  t.equal(await who(one), 'grace', 'no one is two people in one browser');

  await password.fill('[name=current_password]', administrator.password);
  await password.fill('[name=new_password]', 'another long enough password');
  await password.click('main button[type=submit]');
  t.match(
    await password.textContent('.problem'),
    /not your current password/,
    'nor changes a password by mistake',
  );
  await site.api.signIn(administrator.username, administrator.password);
});
