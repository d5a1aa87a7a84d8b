import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { administrator } from '../support/gateway/gateway.ts';
import { openBrowser } from '../support/pages/browser.ts';
import { settled, startConsole } from '../support/pages/console.ts';
import { overflows, violationsOf } from '../support/pages/page-judge.ts';

t.setTimeout(600_000);

const scopes = { 'orders:read': 'Read orders', 'orders:write': 'Change orders' };
const routes = [
  { prefix: '/orders', upstream: 'app', scopes: { read: ['orders:read'], write: ['orders:write'] } },
];

async function start(t: Test) {
  const context = await openBrowser(t, { locale: 'en-GB' });
  if (context === null) return null;
  const gateway = await startConsole(t, { config: { scopes, routes } });
  const { accessToken: bearer } = await gateway.api.signIn(administrator.username, administrator.password);
  const make = async (path: string, json: object): Promise<any> => {
    const { status, json: made, text } = await gateway.api.send({ method: 'POST', path, bearer, json });
    if (status !== 201) throw new Error(`${status} ${text}`);
    return made;
  };
  return { context, gateway, make };
}

const textOf = async (page: Page, place: string) => (await page.innerText(place)).replace(/\s+/g, ' ');

t.test('the list says what each user has', async (t) => {
  const stage = await start(t);
  if (stage === null) return;
  const { context, gateway, make } = stage;
  const sets: string[] = [];
  for (const name of ['readers', 'order desk', 'night shift'])
    sets.push((await make('/api/admin/scope-sets/', { name, scopes: ['orders:read'] })).id);
  const users = {
    nobody: {},
    watcher: { scope_sets: sets.slice(0, 1) },
    clerk: { scope_sets: sets, scopes: ['orders:read', 'orders:write'] },
  };
  for (const [username, held] of Object.entries(users))
    await make('/api/admin/users/', { username, ...held });
  const page = await gateway.open(context, 'administrator', 'users');
  const row = (name: string) => page.locator('tbody tr', { hasText: name });
  const cell = async (name: string) =>
    (await row(name).locator('td').nth(3).innerText()).replace(/\s+/g, ' ');
  t.equal(await cell('nobody'), 'no scopes');
  t.equal(await cell('watcher'), 'readers');
  t.equal(await cell('clerk'), 'readers, order desk, 1 more set, 2 scopes');
  t.equal(await cell(administrator.username), 'administrator');
  await page.setViewportSize({ width: 390, height: 844 });
  t.match((await row('clerk').innerText()).replace(/\s+/g, ' '), 'readers, order desk, 1 more set, 2 scopes');
  t.notOk(await overflows(page));

  const other = await gateway.open(await context.browser()!.newContext(), 'user manager', 'users');
  t.match(await textOf(other, 'tbody'), 'readers, order desk', 'who may see sets sees their names');
});

t.test('who has no scopes is told so, with those that the service asks for', async (t) => {
  const stage = await start(t);
  if (stage === null) return;
  const { context, gateway } = stage;
  const page = await gateway.open(context, 'administrator', 'users');
  await page.click('text=New user');
  t.match(await textOf(page, 'dialog'), 'until then they may use only what asks for none');
  await page.fill('dialog [name=username]', 'grace');
  await page.click('text=Create user');
  await page.waitForSelector('h1 >> text=grace');
  const told =
    'grace has no scopes yet, and may use only what asks for none. The service asks for orders:read orders:write';
  t.match(await textOf(page, 'section[aria-labelledby=effective]'), told);
  await page.click('text=Invite to set a password');
  await page.waitForSelector('dialog pre');
  t.match(await textOf(page, 'dialog'), told);
  t.strictSame(await violationsOf(page), []);
  await page.click('dialog >> text=Done');
  await page.check('[value="orders:read"]');
  await page.click('text=Save');
  await page.waitForSelector('td >> text=given directly');
  t.equal(await page.locator('main >> text=no scopes yet').count(), 0);
});

t.test('the newest keys and sessions are on the page of a user', async (t) => {
  const stage = await start(t);
  if (stage === null) return;
  const { context, gateway, make } = stage;
  const { password } = administrator;
  const held = { scopes: ['orders:read'], password };
  const { id } = await make('/api/admin/users/', { username: 'grace', ...held });
  for (const label of ['one', 'two', 'three', 'four'])
    await make(`/api/admin/users/${id}/api-keys`, { label, scopes: ['orders:read'] });
  const page = await gateway.open(context, 'administrator', `users/${id}`);
  t.strictSame(await page.locator('section[aria-labelledby=keys] li a').allTextContents(), [
    'four',
    'three',
    'two',
  ]);
  t.match(await textOf(page, 'section[aria-labelledby=keys] li'), 'four no use seen yet');
  t.equal(await textOf(page, 'section[aria-labelledby=sessions]'), 'Sessions None.');
  await gateway.api.signIn('grace', password);
  await page.reload();
  await settled(page);
  t.equal(await page.locator('section[aria-labelledby=sessions] li').count(), 1);
  await page.click('#actions ~ .choices >> text=Sign out everywhere');
  await page.click('dialog .button-danger');
  await page.waitForSelector('section[aria-labelledby=sessions] >> text=None.');
  for (const width of [1280, 320]) {
    await page.setViewportSize({ width, height: 800 });
    t.strictSame(await violationsOf(page), [], `at ${width}`);
    t.notOk(await overflows(page), `at ${width}`);
  }
  await page.click('text=All 4 keys');
  await page.waitForSelector('.pages >> text=/^4 keys$/');
});
