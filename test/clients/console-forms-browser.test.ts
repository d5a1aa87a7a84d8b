import type { Page } from 'playwright-core';
import t from 'tap';
import { eventually } from '../support/eventually.ts';
import { openBrowser } from '../support/pages/browser.ts';
import { addSome, settled, startConsole } from '../support/pages/console.ts';

t.setTimeout(600_000);

const refused = (page: Page) => page.waitForSelector('dialog [role=alert]');

t.test('a refused form keeps the entered values', async (t) => {
  const context = await openBrowser(t);
  if (context === null) return;
  const gateway = await startConsole(t);
  await addSome(gateway);
  const page = await gateway.open(context, 'administrator', 'api-keys');

  await page.click('text=New key');
  await page.fill('dialog [name=label]', 'keep me');
  await page.waitForSelector('dialog [name=scopes]');
  await page.click('text=Create key');
  t.match(await page.textContent('#scopes-problem'), 'Choose at least one scope');
  await page.check('dialog [value="store:read"]');
  await page.selectOption('dialog [name=lifetime]', 'on');
  await page.fill('dialog [name=expires]', '2020-01-01T00:00');
  await page.click('text=Create key');
  await page.waitForSelector('dialog >> text=422');
  t.match(await page.textContent('dialog [role=alert]'), 'Expires: Choose a time in the future.');
  t.equal(
    await page.textContent('#expires-problem'),
    'Choose a time in the future.',
    'beside its field, too',
  );
  t.equal(await page.evaluate('document.activeElement.name'), 'expires', 'which has the focus');
  t.equal(await page.inputValue('dialog [name=label]'), 'keep me');
  t.ok(await page.isChecked('dialog [value="store:read"]'));
  t.equal(await page.inputValue('dialog [name=expires]'), '2020-01-01T00:00');
  await page.click('dialog >> text=Cancel');

  await page.click('nav >> text=Users');
  await page.click('text=New user');
  await page.fill('dialog [name=username]', 'grace');
  await page.check('dialog [value=service]');
  await page.click('text=Create user');
  await refused(page);
  t.equal(await page.inputValue('dialog [name=username]'), 'grace');
  t.ok(await page.isChecked('dialog [value=service]'));
  await page.click('dialog >> text=Cancel');

  await page.click('nav >> text=Scope sets');
  await page.click('text=New set');
  await page.fill('dialog [name=name]', 'readers');
  await page.check('dialog [value="store:write"]');
  await page.click('text=Create set');
  await refused(page);
  t.equal(await page.inputValue('dialog [name=name]'), 'readers');
  t.ok(await page.isChecked('dialog [value="store:write"]'));
});

t.test('a confirmation covers the values that the form shows', async (t) => {
  const context = await openBrowser(t);
  if (context === null) return;
  const gateway = await startConsole(t);
  await addSome(gateway);
  const page = await gateway.open(context, 'administrator', 'scope-sets');
  await page.click('td >> text=readers');
  await page.uncheck('form.edit [value="store:read"]');
  await page.click('text=Save');
  await page.waitForSelector('text=Save anyway');
  t.equal(await page.locator('form.edit >> text=/^Save$/').count(), 0, 'there is one way to save');
  await page.click('form.edit >> text=Cancel');
  await page.click('text=/^Save$/');
  await page.waitForSelector('text=Save anyway');

  await page.check('form.edit [value="store:read"]');
  await page.waitForSelector('text=Save anyway', { state: 'detached' });
  await page.check('form.edit [value="store:write"]');
  await page.fill('form.edit [name=description]', 'Another one');
  await page.click('.heading >> text=Remove');
  await page.click('dialog >> text=Cancel');
  await page.waitForSelector('dialog', { state: 'detached' });
  t.ok(await page.isChecked('form.edit [value="store:write"]'), 'a question changes nothing');
  t.equal(await page.inputValue('form.edit [name=description]'), 'Another one');
  await page.click('text=Save');
  await page.waitForSelector('text=Saved.');
  t.ok(await page.isChecked('form.edit [value="store:read"]'));
  t.ok(await page.isChecked('form.edit [value="store:write"]'));
});

t.test('filters take and keep names, and say so if there is none', async (t) => {
  const context = await openBrowser(t);
  if (context === null) return;
  const gateway = await startConsole(t);
  await addSome(gateway);
  const page = await gateway.open(context, 'administrator', 'api-keys');
  await page.fill('[name=created_by__eq]', 'nobody');
  await page.click('form.filters button[type=submit]');
  t.match(await (await page.waitForSelector('[role=alert]')).textContent(), 'There is no user nobody.');
  t.equal(await page.inputValue('[name=created_by__eq]'), 'nobody', 'what was entered stays');
  await page.fill('[name=created_by__eq]', 'ada');
  await page.click('form.filters button[type=submit]');
  await eventually('the address has the id', () => /created_by__eq=[0-9a-f-]{36}/.test(page.url()));
  await settled(page);
  t.match(await page.textContent('.pages'), '60 keys');
  const owner = () => page.inputValue('[name=created_by__eq]');
  t.equal(await owner(), 'ada', 'the name stays, not the id');
  await page.reload();
  await settled(page);
  await eventually('the id has its name again', async () => (await owner()) === 'ada');
  await page.selectOption('[name=scopes__contains]', 'store:write');
  await page.click('form.filters button[type=submit]');
  await page.waitForSelector('text=Nothing here matches.');
  await page.selectOption('[name=scopes__contains]', 'store:read');
  await page.click('form.filters button[type=submit]');
  await page.waitForSelector('td >> text=export');
  t.match(page.url(), /created_by__eq=[0-9a-f-]{36}/);

  await page.click('nav >> text=Users');
  await page.fill('[name=scope_sets__contains]', 'writers');
  await page.click('form.filters button[type=submit]');
  t.match(await (await page.waitForSelector('[role=alert]')).textContent(), 'There is no set writers.');
  await page.fill('[name=scope_sets__contains]', 'readers');
  await page.click('form.filters button[type=submit]');
  await page.waitForSelector('text=/^1 user$/');
  t.equal(await page.inputValue('[name=scope_sets__contains]'), 'readers');

  await page.click('nav >> text=Audit');
  await page.fill('[name=actor__eq]', 'nobody');
  await page.click('form.filters button[type=submit]');
  await eventually('an id that is no user', () => page.url().includes('actor__eq=nobody'));
  await settled(page);
  t.equal(await page.locator('.filter-problem').count(), 0);
});

t.test('who is signed in is always there, and a way out', async (t) => {
  const context = await openBrowser(t);
  if (context === null) return;
  const hosts = { service: 'orders.acme.localhost', console: 'console.acme.localhost' };
  const routes = [{ prefix: '/', upstream: 'app', browser: true }];
  const gateway = await startConsole(t, { hosts, config: { routes } });
  const page = await gateway.open(context, 'plain');
  t.equal(await page.textContent('header strong'), 'plain');
  await page.click('header >> text=Open Orders');
  await page.waitForURL(/^http:\/\/orders\.acme\.localhost/);
});

t.test('the form for one’s own password shows its rules, the password and its faults', async (t) => {
  const context = await openBrowser(t);
  if (context === null) return;
  const gateway = await startConsole(t);
  const page = await gateway.open(context, 'plain', 'account');
  await page.fill('[name=current_password]', 'a password of the tests');
  await page.fill('[name=new_password]', 'password1234');
  await page.click('text=Show new password');
  t.equal(await page.getAttribute('[name=new_password]', 'type'), 'text');
  t.match(await page.textContent('#new_password-hint'), 'At least 12 characters.');
  await page.click('text=Change password');
  await page.waitForSelector('form.edit [role=alert] >> text=/New password: \\S+/');
  t.equal(await page.getAttribute('[name=new_password]', 'type'), 'password');
  await page.fill('[name=new_password]', 'another horse battery');
  await page.click('text=Change password');
  await page.waitForSelector('text=Changed. Your other sessions have ended.');

  await page.route('**/postern/console/account', async (route) => {
    const response = await route.fetch();
    const body = (await response.text()).replace('data-has-password="yes"', 'data-has-password="no"');
    await route.fulfill({ response, body });
  });
  await page.reload();
  await settled(page);
  t.equal(await page.locator('input[type=password]').count(), 0, 'who has none changes none');
});

t.test('lists say what is on them, and what is not there any more', async (t) => {
  const context = await openBrowser(t);
  if (context === null) return;
  const gateway = await startConsole(t);
  await addSome(gateway);
  const page = await gateway.open(context, 'administrator', 'audit?event__eq=api_key_created');
  await eventually(
    'every target of the page has its name',
    async () => (await page.locator('td >> text=/^key export \\d+$/').count()) === 50,
  );
  t.match(await page.locator('tbody time').first().textContent(), /:\d\d:\d\d/, 'to the second');

  await page.goto(`${gateway.origin}/postern/console/api-keys?cursor=gone&label__contains=export`);
  await page.click('text=Go to the first page');
  await settled(page);
  t.match(page.url(), /api-keys\?label__contains=export$/);
  t.match(await page.textContent('.pages'), '60 keys');

  await page.click('nav >> text=Sessions');
  await settled(page);
  await page.locator('tr', { hasText: 'this browser' }).getByRole('button').click();
  t.match(
    (await page.innerText('dialog p')).replace(/\s+/g, ' '),
    /^This ends ada’s session in Chrome on \w+ \(127\.0\.0\.1\) immediately\. This is your own session\.$/,
  );
});
