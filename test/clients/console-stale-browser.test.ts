import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { eventually } from '../support/eventually.ts';
import { administrator } from '../support/gateway/gateway.ts';
import { openBrowser } from '../support/pages/browser.ts';
import { addSome, type ConsoleGateway, settled, startConsole } from '../support/pages/console.ts';

t.setTimeout(600_000);

interface Stage {
  readonly gateway: ConsoleGateway;
  readonly page: Page;
  /** A call by the administrator, elsewhere. */
  readonly call: (method: string, path: string, json?: object) => Promise<{ readonly json: any }>;
}

/** The console at that address, with some of everything. */
async function start(t: Test, path: string): Promise<Stage | null> {
  const context = await openBrowser(t);
  if (context === null) return null;
  const gateway = await startConsole(t);
  await addSome(gateway);
  const { accessToken: bearer } = await gateway.api.signIn(administrator.username, administrator.password);
  const page = await gateway.open(context, 'administrator', path);
  const call: Stage['call'] = (method, path, json) => gateway.api.send({ method, path, bearer, json });
  return { gateway, page, call };
}

/** Opens the page of a user. */
async function openUser(page: Page, name: string): Promise<string> {
  await page.click(`td >> text=${name}`);
  await page.waitForSelector(`h1 >> text=${name}`);
  return page.url().split('/').at(-1)!;
}

t.test('another administrator’s change is not reported as saved', async (t) => {
  const stage = await start(t, 'users?username__eq=grace');
  if (stage === null) return;
  const { page, call } = stage;
  const id = await openUser(page, 'grace');
  await page.fill('[name=email]', 'hopper@example.com');
  await page.click('text=Save');
  await page.waitForSelector('text=Saved.');
  await call('PATCH', `/api/admin/users/${id}`, { email: 'admiral@example.com', scope_sets: [] });
  await page.fill('[name=display_name]', 'Admiral Hopper');
  await page.click('text=Save');
  await page.waitForSelector('text=Someone else has changed');
  t.match(await page.textContent('form.edit'), 'Scope sets: readers → nothing');
  await page.click('text=Show what is there now');
  await eventually(
    'the other’s change is shown',
    async () => (await page.inputValue('[name=email]')) === 'admiral@example.com',
  );
  t.equal(await page.locator('text=Saved.').count(), 0);
});

t.test('a user who has changed since can be disabled, enabled and removed', async (t) => {
  const stage = await start(t, 'users?username__eq=grace');
  if (stage === null) return;
  const { page, call } = stage;
  const id = await openUser(page, 'grace');
  let count = 0;
  const change = () => call('PATCH', `/api/admin/users/${id}`, { display_name: `Grace ${count++}` });

  await change();
  await page.click('text=Disable');
  await page.click('dialog .button-danger');
  await page.waitForSelector('dialog >> text=Someone has changed this');
  await eventually('it is read again', async () =>
    (await page.inputValue('[name=display_name]')).startsWith('Grace 0'),
  );
  await page.click('dialog .button-danger');
  await page.waitForSelector('h1 >> text=disabled');

  await change();
  await page.click('text=/^Enable$/');
  await page.waitForSelector('text=Someone has changed this');
  await eventually('it is read again', async () =>
    (await page.inputValue('[name=display_name]')).startsWith('Grace 1'),
  );
  await page.click('text=/^Enable$/');
  await page.waitForSelector('h1 >> text=can’t sign in yet');

  await change();
  await page.click('text=/^Remove$/');
  await page.click('dialog .button-danger');
  await page.waitForSelector('dialog >> text=Someone has changed this');
  await eventually('it is read again', async () =>
    (await page.inputValue('[name=display_name]')).startsWith('Grace 2'),
  );
  await page.click('dialog .button-danger');
  await page.waitForURL(/console\/users$/);
});

t.test('a key that is gone leaves the list', async (t) => {
  const stage = await start(t, 'api-keys?label__contains=export 7');
  if (stage === null) return;
  const { page, call } = stage;
  await page.waitForSelector('td >> text=export 7');
  const { json } = await call('GET', '/api/admin/api-keys/?label__eq=export%207');
  await call('DELETE', `/api/admin/api-keys/${json.items[0].id}`);
  await page.locator('tr', { hasText: 'export 7' }).getByRole('button').click();
  await page.click('dialog .button-danger');
  await page.waitForSelector('dialog >> text=doesn’t exist any more');
  await page.click('dialog >> text=Cancel');
  await page.waitForSelector('td >> text=export 7', { state: 'detached' });
});

t.test('a change without a response may have been made', async (t) => {
  const stage = await start(t, 'api-keys');
  if (stage === null) return;
  const { page } = stage;
  await page.route('**/api/admin/api-keys/', async (route) => {
    if (route.request().method() !== 'POST') return route.continue();
    await route.fetch();
    await route.abort();
  });
  await page.click('text=New key');
  await page.fill('dialog [name=label]', 'perhaps');
  await page.check('dialog [value="store:read"]');
  await page.click('text=Create key');
  await page.waitForSelector('dialog >> text=It may have been done all the same');
  await page.click('dialog >> text=Cancel');
  await page.waitForSelector('td >> text=perhaps');

  await page.unroute('**/api/admin/api-keys/');
  await page.route('**/api/admin/api-keys/*', (route) =>
    route.fulfill({ status: 504, contentType: 'text/html', body: '<h1>Gateway Timeout</h1>' }),
  );
  await page.locator('tr', { hasText: 'perhaps' }).getByRole('button').click();
  await page.click('dialog .button-danger');
  await page.waitForSelector('dialog >> text=It may have been done all the same');
});

t.test('a scope that was lost is the only one that is missing, and is not offered any more', async (t) => {
  const context = await openBrowser(t);
  if (context === null) return;
  const gateway = await startConsole(t);
  const { accessToken: bearer } = await gateway.api.signIn(administrator.username, administrator.password);
  await gateway.api.mintKey(bearer, { label: 'there', scopes: ['store:read'] });
  const page = await gateway.open(context, 'key manager', 'api-keys');
  await page.click('text=New key');
  await page.fill('dialog [name=label]', 'too late');
  await page.check('dialog [value="store:read"]');
  const users = '/api/admin/users/';
  const { json } = await gateway.api.send({ path: `${users}?username__eq=key%20manager`, bearer });
  await gateway.api.send({
    method: 'PATCH',
    path: users + json.items[0].id,
    bearer,
    json: { scopes: ['apikeys:read', 'apikeys:write'] },
  });
  await page.click('text=Create key');
  const problem = await page.waitForSelector('dialog [role=alert]');
  t.match((await problem.innerText()).replace(/\s+/g, ' '), 'Missing: store:read 403');
  await page.click('dialog >> text=Cancel');

  await gateway.api.send({ method: 'PATCH', path: users + json.items[0].id, bearer, json: { scopes: [] } });
  await page.click('thead >> text=Created');
  await page.waitForSelector('main [role=alert] >> text=Missing: apikeys:read');
  const offered = () => page.locator('nav[aria-label=Console] a').allTextContents();
  await eventually('only the account is offered', async () => `${await offered()}` === 'Your account');
});

t.test('a key for someone has what that user holds', async (t) => {
  const stage = await start(t, 'users');
  if (stage === null) return;
  const { page, gateway } = stage;
  await openUser(page, 'grace');
  await page.click('text=New key for grace');
  await page.waitForSelector('dialog [name=scopes]');
  const offered = () =>
    page.evaluate(`[...document.querySelectorAll('dialog [name=scopes]')].map(({ value }) => value)`);
  t.strictSame(await offered(), ['store:read']);
  await page.fill('dialog [name=label]', 'of grace');
  await page.check('dialog [value="store:read"]');
  await page.click('text=Create key');
  gateway.secrets.add((await page.locator('dialog pre').first().textContent()) ?? '');
  await page.keyboard.press('Escape');
  await page.waitForSelector('dialog >> text=Copy the key first');
  await page.keyboard.press('Escape');
  t.ok(await page.isVisible('dialog pre'), 'what is shown once stays');
  await page.click('text=I have copied it');
  await page.waitForSelector('dialog', { state: 'detached' });
  await eventually('the keyboard is where it was', () =>
    page.evaluate<boolean>(`document.activeElement.textContent === 'New key for grace'`),
  );

  await page.click('nav >> text=Users');
  await settled(page);
  await openUser(page, 'plain');
  await page.click('text=New key for plain');
  await page.waitForSelector('dialog >> text=plain holds no scopes yet.');
});

t.test('names that are taken, and accounts', async (t) => {
  const context = await openBrowser(t);
  if (context === null) return;
  const staff = { issuer: 'https://staff.example', client_id: 'postern' };
  const gateway = await startConsole(t, { config: { identity_providers: { staff } } });
  await addSome(gateway);
  const page = await gateway.open(context, 'administrator', 'users');
  const refusal = async () => (await page.waitForSelector('dialog [role=alert] p')).textContent();
  await page.click('text=New user');
  await page.fill('dialog [name=username]', 'grace');
  await page.click('text=Create user');
  t.equal(await refusal(), 'There is already a user called grace.');
  await page.click('dialog >> text=Cancel');

  const link = async (name: string) => {
    await page.click('nav >> text=Users');
    await settled(page);
    await openUser(page, name);
    t.equal(await page.textContent('#ways'), 'Sign-in methods');
    await page.click('text=Link an account');
    await page.fill('dialog [name=subject]', 'subject-1');
    await page.click('dialog >> text=/^Link account$/');
  };
  await link('grace');
  await page.waitForSelector('td >> text=subject-1');
  await link('plain');
  t.equal(await refusal(), 'This account is already linked to another user.');
  await page.click('dialog >> text=Cancel');
  await page.click('nav >> text=Users');
  await settled(page);
  await openUser(page, 'grace');
  await page.click('td >> text=Unlink');
  t.match(
    (await page.innerText('dialog p')).replace(/\s+/g, ' '),
    'is no longer grace. All sessions of grace end immediately.',
  );
  await page.click('dialog >> text=Cancel');

  await page.click('nav >> text=Scope sets');
  await page.click('text=New set');
  await page.fill('dialog [name=name]', 'readers');
  await page.click('text=Create set');
  t.equal(await refusal(), 'There is already a set called readers.');
});

t.test('the page of one’s own account addresses its user', async (t) => {
  const context = await openBrowser(t);
  if (context === null) return;
  const gateway = await startConsole(t);
  const page = await gateway.open(context, 'administrator', 'account');
  t.equal(await page.textContent('#ways'), 'How you sign in');
});
