import t from 'tap';
import { openBrowser } from '../support/pages/browser.ts';
import { addSome, settled, startConsole } from '../support/pages/console.ts';
import { complaintsOf } from '../support/pages/page-judge.ts';

t.setTimeout(300_000);

t.test('the console works with the API below the pages', async (t) => {
  const context = await openBrowser(t);
  if (context === null) return;
  const routes = [
    { prefix: '/orders', upstream: 'app', scopes: ['store:read'] },
    { prefix: '/api', upstream: 'app', public: true },
  ];
  const gateway = await startConsole(t, { config: { api_path: '/postern/api', routes } });
  await addSome(gateway);
  const page = await gateway.open(context, 'administrator', 'api-keys');
  const complaints = complaintsOf(page);
  const called = new Set<string>();
  page.on('request', (request) => called.add(new URL(request.url()).pathname));
  for (const part of ['api-keys', 'sessions', 'users', 'scope-sets', 'audit', 'account']) {
    await page.goto(`${gateway.origin}/postern/console/${part}`);
    await settled(page);
    t.equal(await page.locator('main [role=alert]').count(), 0, part);
  }
  t.ok(called.has('/postern/api/login/refresh-token') && called.has('/postern/api/admin/audit/'));

  await page.click('nav >> text=API keys');
  await page.click('text=New key');
  await page.fill('dialog [name=label]', 'reads keys');
  await page.check('dialog [value="apikeys:read"]');
  await page.click('text=Create key');
  await page.waitForSelector('dialog >> text=It can call Postern itself');
  const [key, command] = await page.locator('dialog pre').allTextContents();
  gateway.secrets.add(key!);
  t.equal(command, `curl ${gateway.origin}/postern/api/admin/api-keys/ \\\n  -H 'X-API-Key: ${key}'`);
  t.equal((await gateway.api.send({ path: '/postern/api/admin/api-keys/', apiKey: key! })).status, 200);
  await page.click('text=I have copied it');
  await page.click('td >> text=reads keys');
  await page.click('text=Delete key');
  await page.click('dialog button >> text=Delete key');
  await page.waitForURL(/api-keys$/);
  t.equal((await gateway.api.send({ path: '/postern/api/admin/api-keys/', apiKey: key! })).status, 401);

  await page.click('form[action$="/sign-out"] button');
  await page.waitForURL(/\/postern\/signed-out$/);
  await page.goto(`${gateway.origin}/postern/console/`);
  t.match(page.url(), '/postern/sign-in?return_to=');
  t.strictSame(complaints, []);
  t.equal(gateway.upstream.seen.length, 0, 'nothing was called at /api');
});
