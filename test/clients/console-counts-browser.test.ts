import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { administrator } from '../support/gateway/gateway.ts';
import { openBrowser } from '../support/pages/browser.ts';
import { type ConsoleGateway, settled, startConsole } from '../support/pages/console.ts';
import { violationsOf } from '../support/pages/page-judge.ts';

t.setTimeout(600_000);

interface Stage {
  readonly gateway: ConsoleGateway;
  readonly page: Page;
  readonly bearer: string;
}

async function start(t: Test): Promise<Stage | null> {
  const context = await openBrowser(t);
  if (context === null) return null;
  const gateway = await startConsole(t);
  const { accessToken: bearer } = await gateway.api.signIn(administrator.username, administrator.password);
  return { gateway, page: await gateway.open(context, 'administrator', 'users'), bearer };
}

/** Holds every GET whose path contains that, until `release` is called. */
async function hold(page: Page, path: string): Promise<{ release(): Promise<void> }> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const matches = (url: URL) => url.pathname.includes(path);
  await page.route(matches, async (route) => {
    if (route.request().method() === 'GET') await promise;
    await route.fallback();
  });
  return {
    async release() {
      resolve();
      await page.unroute(matches);
    },
  };
}

const confirm = (page: Page) => page.locator('dialog .button-danger');

/** What the question says while it counts, and that it can't be answered by yes. */
async function judgeCounting(t: Test, page: Page, what: string): Promise<void> {
  await page.waitForSelector('dialog');
  t.equal(await page.textContent('dialog [role=status]'), 'Counting…', what);
  t.ok(await confirm(page).isDisabled(), `${what}: the button is held`);
  t.equal(
    await page.evaluate(`document.activeElement.textContent`),
    'Cancel',
    `${what}: the keyboard is at Cancel`,
  );
}

/** What it says once that is known. */
async function judgeCounted(t: Test, page: Page, words: string): Promise<void> {
  await page.waitForSelector(`dialog [role=status]:not(:text("Counting…"))`);
  t.match((await page.innerText('dialog')).replace(/\s+/g, ' '), new RegExp(words));
  t.notOk(await confirm(page).isDisabled(), `${words}: it can be confirmed`);
  await page.click('dialog >> text=Cancel');
  await page.waitForSelector('dialog', { state: 'detached' });
}

t.test('a question about a user counts what there is when it is asked', async (t) => {
  const stage = await start(t);
  if (stage === null) return;
  const { gateway, page, bearer } = stage;
  const { json: grace } = await gateway.api.send({
    method: 'POST',
    path: '/api/admin/users/',
    bearer,
    json: { username: 'grace', scopes: ['store:read'], password: administrator.password },
  });
  await page.goto(`${gateway.origin}/postern/console/users/${grace.id}`);
  await settled(page);
  await gateway.api.send({
    method: 'POST',
    path: `/api/admin/users/${grace.id}/api-keys`,
    bearer,
    json: { label: 'made since', scopes: ['store:read'] },
  });
  for (const action of ['Disable', 'Remove']) {
    const held = await hold(page, '/api/admin/api-keys/');
    await page.click(`#actions ~ .choices >> text=${action}`);
    await judgeCounting(t, page, action);
    t.strictSame(await violationsOf(page), []);
    await held.release();
    await judgeCounted(
      t,
      page,
      action === 'Disable' ? '1 API key will be suspended' : '1 API key will be deleted',
    );
  }
  await gateway.api.signIn('grace', administrator.password);
  const sessions = await hold(page, '/api/admin/sessions/');
  await page.click('#actions ~ .choices >> text=Sign out everywhere');
  await judgeCounting(t, page, 'Sign out everywhere');
  await sessions.release();
  await judgeCounted(t, page, '1 session will end immediately. API keys keep working.');

  await page.route('**/api/admin/api-keys/**', (route) =>
    route.fulfill({ status: 503, json: { detail: 'Unavailable', code: 'store_unavailable' } }),
  );
  await page.click('#actions ~ .choices >> text=Disable');
  await judgeCounted(t, page, 'All sessions will end and all API keys will be suspended immediately.');
});

t.test('so does one about a set', async (t) => {
  const stage = await start(t);
  if (stage === null) return;
  const { gateway, page, bearer } = stage;
  const { json: set } = await gateway.api.send({
    method: 'POST',
    path: '/api/admin/scope-sets/',
    bearer,
    json: { name: 'readers', description: '', scopes: ['store:read', 'store:write'] },
  });
  await page.goto(`${gateway.origin}/postern/console/scope-sets/${set.id}`);
  await settled(page);
  await page.waitForSelector('dd a >> text=0');
  const add = (username: string) =>
    gateway.api.send({
      method: 'POST',
      path: '/api/admin/users/',
      bearer,
      json: { username, scope_sets: [set.id] },
    });
  await add('grace');
  const held = await hold(page, '/api/admin/users/');
  await page.click('.heading >> text=Remove');
  await judgeCounting(t, page, 'Remove a set');
  await held.release();
  await judgeCounted(t, page, '1 user has it now.');
  await add('alan');
  const again = await hold(page, '/api/admin/users/');
  await page.uncheck('[value="store:write"]');
  await page.click('text=Save');
  await page.waitForSelector('form.edit [role=status] >> text=Counting…');
  await page.check('[value="store:write"]');
  await page.uncheck('[value="store:read"]');
  await again.release();
  await page.waitForSelector('form.edit [role=status]:text-is("")', { state: 'attached' });
  t.equal(
    await page.locator('[role=alertdialog]').count(),
    0,
    'nobody is asked about what has changed since',
  );
  await page.check('[value="store:read"]');
  await page.uncheck('[value="store:write"]');
  await page.click('text=Save');
  await page.waitForSelector('[role=alertdialog]');
  t.match(
    (await page.innerText('[role=alertdialog]')).replace(/\s+/g, ' '),
    /^2 users and every key that has this set lose store:write immediately.* (grace, alan|alan, grace) /,
  );
});

t.test('and one about one’s own sessions', async (t) => {
  const stage = await start(t);
  if (stage === null) return;
  const { gateway, page } = stage;
  await page.goto(`${gateway.origin}/postern/console/account`);
  await settled(page);
  await page.waitForSelector('text=End all but this one');
  await gateway.api.signIn(administrator.username, administrator.password);
  const held = await hold(page, '/api/self/sessions/');
  await page.click('text=End all but this one');
  await judgeCounting(t, page, 'End all but this one');
  await held.release();
  await judgeCounted(t, page, '2 other sessions will end immediately. .* End 2 sessions');
});
