import t from 'tap';
import { eventually } from '../support/eventually.ts';
import { administrator } from '../support/gateway/gateway.ts';
import { openBrowser } from '../support/pages/browser.ts';
import { addSome, startConsole } from '../support/pages/console.ts';
import { overflows, violationsOf } from '../support/pages/page-judge.ts';

t.setTimeout(600_000);

t.test('a long title of the service fits on a telephone', async (t) => {
  const context = await openBrowser(t, { isMobile: true, viewport: { width: 320, height: 640 } });
  if (context === null) return;
  for (const title of [
    'Auftragsverwaltung und Warenlager',
    'Orders, invoices and reports of Nordwind',
    'x'.repeat(64),
  ]) {
    const gateway = await startConsole(t, { config: { web: { title, console: {} } } });
    const page = await gateway.open(context, 'administrator', 'account');
    for (const width of [320, 390]) {
      await page.setViewportSize({ width, height: 640 });
      t.notOk(await overflows(page), `${title} at ${width}`);
      const right = await page
        .locator('.brand span')
        .first()
        .evaluate((brand) => brand.getBoundingClientRect().right);
      t.ok(right <= width, `${title} ends at ${right} of ${width}`);
    }
  }
});

t.test('the title of a page of one user or set begins with its name', async (t) => {
  const context = await openBrowser(t);
  if (context === null) return;
  const gateway = await startConsole(t);
  await addSome(gateway);
  const page = await gateway.open(context, 'administrator', 'users');
  const titled = (title: string) =>
    eventually(`the title is ${title}`, async () => (await page.title()) === title);
  await titled('Users · Orders');
  await page.click('td >> text=grace');
  await titled('grace · Users · Orders');
  const ofGrace = page.url();
  await page.goBack();
  await titled('Users · Orders');
  await page.click('td >> text=plain');
  await titled('plain · Users · Orders');
  await page.click('nav >> text=Scope sets');
  await titled('Scope sets · Orders');
  await page.click('td >> text=readers');
  await titled('readers · Scope sets · Orders');
  await page.fill('[name=name]', 'all readers');
  await page.click('text=Save');
  await titled('all readers · Scope sets · Orders');
  await page.goto(ofGrace);
  await titled('grace · Users · Orders');
  await page.click('nav >> text=Your account');
  await titled('Your account · Orders');

  const { accessToken: bearer } = await gateway.api.signIn(administrator.username, administrator.password);
  const turning = { username: '\u202eevil', kind: 'service' };
  const { json } = await gateway.api.send({
    method: 'POST',
    path: '/api/admin/users/',
    bearer,
    json: turning,
  });
  await page.goto(`${gateway.origin}/postern/console/users/${json.id}`);
  await titled('\u2068\u202eevil\u2069 · Users · Orders');
});

t.test('a user or set that is not there', async (t) => {
  const context = await openBrowser(t);
  if (context === null) return;
  const gateway = await startConsole(t);
  const page = await gateway.open(context, 'administrator', 'users');
  const unknown = '01a21acd-e26a-733c-ae4d-8f9654e8ec9f';
  for (const [part, label] of [
    ['users', 'Users'],
    ['scope-sets', 'Scope sets'],
  ] as const)
    for (const id of [unknown, 'no-id', 'a%20b'])
      await t.test(`${part}/${id}`, async (t) => {
        await page.goto(`${gateway.origin}/postern/console/${part}/${id}`);
        await page.waitForSelector('main h1');
        t.equal(await page.textContent('h1'), 'Not found');
        t.equal(await page.title(), `Not found · ${label} · Orders`);
        t.equal(await page.locator('main button').count(), 0, 'trying again would not help');
        t.strictSame(await violationsOf(page), []);
        await page.click('main a');
        await page.waitForSelector(`h1 >> text=${label}`);
        t.equal(new URL(page.url()).pathname, `/postern/console/${part}`);
      });

  await page.route('**/api/admin/users/*', (route) =>
    route.fulfill({ status: 503, json: { detail: 'Unavailable', code: 'store_unavailable' } }),
  );
  await page.goto(`${gateway.origin}/postern/console/users/${unknown}`);
  await page.waitForSelector('main [role=alert]');
  t.equal(await page.textContent('h1'), 'Users', 'what can’t be read has a heading, too');
  t.equal(await page.textContent('main button'), 'Try again');
  t.strictSame(await violationsOf(page), []);
});
