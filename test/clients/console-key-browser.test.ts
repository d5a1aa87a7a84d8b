import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { eventually } from '../support/eventually.ts';
import { administrator } from '../support/gateway/gateway.ts';
import { openBrowser } from '../support/pages/browser.ts';
import { settled, startConsole } from '../support/pages/console.ts';
import { complaintsOf, overflows, violationsOf } from '../support/pages/page-judge.ts';

t.setTimeout(600_000);

const scopes = {
  'orders:read': 'Read orders',
  'orders:write': 'Change orders',
  'stock:read': 'Read the stock',
};
const routes = [
  { prefix: '/orders', upstream: 'app', scopes: { read: ['orders:read'], write: ['orders:write'] } },
  { prefix: '/open', upstream: 'app', public: true },
];
const dayMs = 86_400_000;

async function start(t: Test, config: object = {}) {
  const context = await openBrowser(t, { locale: 'en-GB' });
  if (context === null) return null;
  const gateway = await startConsole(t, { config: { scopes, routes, ...config } });
  const { accessToken: bearer } = await gateway.api.signIn(administrator.username, administrator.password);
  const make = async (path: string, json: object): Promise<any> => {
    const { status, json: made, text } = await gateway.api.send({ method: 'POST', path, bearer, json });
    if (status !== 201) throw new Error(`${status} ${text}`);
    return made;
  };
  const set = await make('/api/admin/scope-sets/', { name: 'readers', scopes: ['stock:read'] });
  return { context, gateway, make, set, page: await gateway.open(context, 'administrator', 'api-keys') };
}

const textOf = async (page: Page, place: string) => (await page.innerText(place)).replace(/\s+/g, ' ');

t.test('a key is made of a set and a scope, called, found again and deleted', async (t) => {
  const stage = await start(t);
  if (stage === null) return;
  const { gateway, page, make } = stage;
  const complaints = complaintsOf(page);
  t.equal(await page.locator('table, form.filters, .pages').count(), 0, 'nothing but how to begin');
  await page.click('.empty >> text=New key');
  await page.fill('dialog [name=label]', 'nightly export');
  const groups = await textOf(page, 'dialog');
  t.match(
    groups,
    'The service Choose all that read in The service orders:read Read orders orders:write Change orders',
  );
  t.match(
    groups,
    'Postern itself Choose all that read in Postern itself apikeys:read List and read API keys',
  );
  await page.check('dialog label:has-text("readers") input');
  await page.check('dialog [value="orders:read"]');
  t.equal(await page.inputValue('dialog [name=lifetime]'), '90');
  t.strictSame(await violationsOf(page), []);
  await page.click('text=Create key');
  await page.waitForSelector('dialog pre >> text=curl');
  const [key, command] = await page.locator('dialog pre').allTextContents();
  gateway.secrets.add(key!);
  t.equal(command, `curl ${gateway.origin}/orders/ \\\n  -H 'X-API-Key: ${key}'`);
  t.equal((await gateway.api.send({ path: '/orders/', apiKey: key! })).status, 200, 'which works');
  await page.click('text=I have copied it');

  const row = page.locator('tbody tr');
  t.match(
    await textOf(page, 'tbody tr'),
    /^nightly export \w+…\s+ada readers orders:read just now in 90 days/,
  );
  t.equal(await row.locator('.state').count(), 0, 'what is active is not marked');
  await page.click('td >> text=nightly export');
  await page.waitForSelector('h1 >> text=active');
  await settled(page);
  await page.waitForSelector('td >> text=Read the stock');
  const rows = (await page.locator('section[aria-labelledby=held] tbody tr').allInnerTexts()).map((text) =>
    text.replace(/\s+/g, ' '),
  );
  t.strictSame(rows, ['orders:read Read orders given directly', 'stock:read Read the stock the set readers']);
  t.match(await textOf(page, 'section[aria-labelledby=call]'), `curl ${gateway.origin}/orders/`);
  for (const width of [1280, 320]) {
    await page.setViewportSize({ width, height: 800 });
    t.strictSame(await violationsOf(page), [], `at ${width}`);
    t.notOk(await overflows(page), `at ${width}`);
  }
  await page.setViewportSize({ width: 1280, height: 800 });
  t.equal(await page.title(), 'nightly export · API keys · Orders');

  const parent = await make('/api/admin/api-keys/', {
    label: 'parent',
    scopes: ['apikeys:write', 'orders:read'],
  });
  const child = await gateway.api
    .mintKey(parent.key, { label: 'child', scopes: ['orders:read'] })
    .catch(() => null);
  t.equal(child, null, 'a key is no bearer token here');
  const minted = await gateway.api.send({
    method: 'POST',
    path: '/api/admin/api-keys/',
    apiKey: parent.key,
    json: { label: 'child', scopes: ['orders:read'] },
  });
  t.equal(minted.status, 201);
  await page.goto(`${gateway.origin}/postern/console/api-keys/${parent.id}`);
  await page.click('section[aria-labelledby=children] >> text=child');
  await page.waitForSelector('dd >> text=no use seen yet (noted within a minute)');
  await page.click('dd >> text=parent');
  await page.waitForSelector('section[aria-labelledby=done] >> text=API key created: child');
  await page.click('text=Delete key');
  await page.waitForSelector('dialog >> text=1 now');
  await page.check('dialog input');
  await page.click('dialog >> text=Delete it and its 1 descendant');
  await page.waitForURL(/api-keys$/);
  await page.waitForSelector('.said >> text=Deleted parent and its 1 descendant.');
  await page.waitForSelector('.pages >> text=/^1 key$/');
  await page.click('nav >> text=Users');
  await eventually('gone with the page', async () => (await page.textContent('.said')) === '');
  t.strictSame(complaints, []);
});

t.test('all scopes that read are chosen at once, as far as they are shown', async (t) => {
  const many = Object.fromEntries(
    ['a', 'b', 'c', 'd'].map((area) => [`${area}${area}:read`, `See area ${area}`]),
  );
  const stage = await start(t, { scopes: { ...scopes, ...many } });
  if (stage === null) return;
  const { page } = stage;
  const chosen = () =>
    page
      .locator('dialog [name=scopes]:checked')
      .evaluateAll((inputs) => inputs.map((input) => (input as unknown as { value: string }).value));
  await page.click('text=New key');
  await page.fill('dialog [name=label]', 'reports');
  await page.fill('dialog input[type=search]', 'See area');
  await page.click('dialog >> text=Choose all that read in The service');
  t.strictSame(await chosen(), ['aa:read', 'bb:read', 'cc:read', 'dd:read']);
  await page.fill('dialog input[type=search]', '');
  await page.uncheck('dialog [value="bb:read"]');
  await page.click('dialog >> text=Choose all that read in The service');
  t.strictSame(await chosen(), ['aa:read', 'bb:read', 'cc:read', 'dd:read', 'orders:read', 'stock:read']);
  await page.click('text=Create key');
  await page.waitForSelector('dialog pre >> text=curl');
  await page.click('text=I have copied it');
  t.match(await textOf(page, 'tbody tr'), 'aa:read bb:read and 4 more');
});

t.test('the longest lifetime is named and chosen', async (t) => {
  const stage = await start(t, { api_keys: { max_lifetime: '60d' } });
  if (stage === null) return;
  const { page } = stage;
  await page.click('text=New key');
  t.strictSame(await page.locator('[name=lifetime] option').allTextContents(), [
    '30 days',
    '60 days, the longest allowed',
    'On a date…',
  ]);
  t.equal(await page.inputValue('[name=lifetime]'), 'longest');
  await page.fill('dialog [name=label]', 'as long as can be');
  await page.check('dialog [value="apikeys:read"]');
  await page.click('text=Create key');
  await page.waitForSelector('dialog >> text=It can call Postern itself');
  await page.click('text=I have copied it');
  await page.waitForSelector('td >> text=in 60 days');
});

t.test('what ends soon stands out, and times are exact where the keyboard is', async (t) => {
  const stage = await start(t);
  if (stage === null) return;
  const { page, make } = stage;
  const expires = (days: number) => new Date(Date.now() + days * dayMs).toISOString();
  await make('/api/admin/api-keys/', { label: 'soon', scopes: ['orders:read'], expires: expires(6) });
  await make('/api/admin/api-keys/', { label: 'later', scopes: ['orders:read'], expires: expires(8) });
  await page.reload();
  await settled(page);
  t.strictSame(await page.locator('time.soon .relative').allTextContents(), ['in 6 days']);
  const row = page.locator('tr', { hasText: 'later' });
  t.notMatch(await row.innerText(), /\d\d:\d\d/);
  await row.locator('a').first().focus();
  t.match(await row.innerText(), /\d\d:\d\d/);
});

t.test('on a telephone a key is a card, and menu and filters are folded', async (t) => {
  const stage = await start(t);
  if (stage === null) return;
  const { page, make } = stage;
  for (const label of ['one', 'two']) await make('/api/admin/api-keys/', { label, scopes: ['orders:read'] });
  await page.setViewportSize({ width: 390, height: 844 });
  await page.reload();
  await settled(page);
  const box = await page.locator('tbody tr').first().boundingBox();
  t.ok(box !== null && box.height < 110 && box.y < 220, JSON.stringify(box));
  t.notOk(await page.isVisible('form.filters'));
  await page.click('text=/^Filters/');
  await page.fill('[name=label__contains]', 'one');
  await page.click('form.filters button[type=submit]');
  await page.waitForSelector('text=Filters (1)');
  t.equal(await page.locator('tbody tr').count(), 1);
  t.notOk(await page.isVisible('nav[aria-label=Console]'));
  await page.click('text=/^Menu$/');
  await page.click('nav >> text=Audit');
  await page.waitForSelector('h1 >> text=Audit');
  t.notOk(await page.isVisible('nav[aria-label=Console]'), 'folded again');
  t.notOk(await overflows(page));
});

t.test('an event opens to all its fields', async (t) => {
  const stage = await start(t);
  if (stage === null) return;
  const { page, gateway } = stage;
  await page.goto(`${gateway.origin}/postern/console/audit`);
  await settled(page);
  await page.selectOption('[name=event__eq]', { label: 'Scope set created' });
  await page.click('form.filters button[type=submit]');
  await page.waitForSelector('td >> text=set readers');
  t.equal(await page.locator('td .title').first().getAttribute('title'), 'scope_set_created');
  t.notOk(await page.isVisible('[name=request_id__eq]'));
  await page.focus('.opener');
  await page.keyboard.press('Enter');
  const text = await textOf(page, '.opened');
  for (const field of [
    'event scope_set_created',
    'request id ',
    'changes scopes added stock:read',
    'actor kind session',
  ])
    t.match(text, field);
  t.strictSame(await violationsOf(page), []);
});

t.test('a long list of scopes can be narrowed, and what is chosen stays', async (t) => {
  const many = Object.fromEntries(
    Array.from({ length: 40 }, (_, at) => [`area${at}:read`, `Read area ${at}`]),
  );
  const stage = await start(t, { scopes: { ...scopes, ...many } });
  if (stage === null) return;
  const { page } = stage;
  await page.click('text=New key');
  await page.fill('dialog [name=label]', 'of two areas');
  await page.check('dialog [value="area7:read"]');
  await page.fill('dialog input[type=search]', 'area 31');
  await eventually(
    'two are left',
    async () => (await page.locator('dialog [name=scopes]:visible').count()) === 2,
  );
  await page.keyboard.press('Enter');
  t.equal(await page.locator('dialog [role=alert]').count(), 0, 'Enter sends nothing');
  await page.check('dialog [value="area31:read"]');
  await page.click('text=Create key');
  await page.waitForSelector('dialog >> text=No route of the service takes this key');
  await page.click('text=I have copied it');
  t.match(await textOf(page, 'tbody tr'), 'area31:read area7:read');
});
