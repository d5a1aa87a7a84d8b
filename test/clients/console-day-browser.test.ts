import t from 'tap';
import { openBrowser } from '../support/pages/browser.ts';
import { settled, startConsole } from '../support/pages/console.ts';

t.setTimeout(600_000);

t.test('a day of an administrator', async (t) => {
  const context = await openBrowser(t, { acceptDownloads: true });
  if (context === null) return;
  const gateway = await startConsole(t);
  const page = await gateway.open(context, 'administrator');
  const text = () => page.textContent('main');

  // A set for those who read.
  await page.click('nav >> text=Scope sets');
  await page.click('text=New set');
  await page.fill('dialog [name=name]', 'readers');
  await page.fill('dialog [name=description]', 'Read everything');
  await page.check('dialog input[value="store:read"]');
  await page.check('dialog input[value="store:write"]');
  await page.click('text=Create set');
  await page.waitForSelector('h1 >> text=readers');

  // Somebody new, who is invited and gets the set.
  await page.click('nav >> text=Users');
  await page.click('text=New user');
  await page.fill('dialog [name=username]', 'grace');
  await page.click('text=Create user');
  await page.waitForSelector('h1 >> text=grace');
  await page.check('label:has-text("readers") input');
  await page.click('text=Save');
  await page.waitForSelector('td >> text=the set readers');
  await page.click('text=Invite to set a password');
  const invitation = (await page.textContent('dialog pre')) ?? '';
  await page.click('dialog >> text=Done');

  const graces = await context.browser()!.newContext();
  const her = await graces.newPage();
  await her.goto(invitation);
  await her.fill('main input[type=password]', 'another horse battery');
  await her.click('main button[type=submit]');
  await her.goto(`${gateway.origin}/postern/console/account`);
  await her.fill('[name=username]', 'grace');
  await her.fill('[name=password]', 'another horse battery');
  await her.click('main button[type=submit]');
  await settled(her);
  t.match(await her.textContent('main'), /store:read.*store:write/s);

  // A key for a program, which works.
  await page.click('nav >> text=API keys');
  await page.click('text=New key');
  await page.fill('dialog [name=label]', 'nightly export');
  await page.check('dialog input[value="store:read"]');
  await page.click('text=Create key');
  const key = (await page.locator('dialog pre').first().textContent()) ?? '';
  gateway.secrets.add(key);
  await page.waitForSelector('dialog pre >> text=curl');
  t.match(await page.locator('dialog pre').last().textContent(), `-H 'X-API-Key: ${key}'`);
  await page.click('text=I have copied it');
  t.equal((await gateway.api.send({ path: '/api/store/1', apiKey: key })).status, 200);

  // The set gives less: who would lose it is said first.
  await page.click('nav >> text=Scope sets');
  await page.click('td >> text=readers');
  await page.uncheck('form.edit input[value="store:write"]');
  await page.click('text=Save');
  await page.waitForSelector('text=Save anyway');
  t.match(
    await text(),
    /1 user and every key that has this set lose\s+store:write\s+immediately, unless they hold it otherwise\./,
  );
  t.match(await text(), 'grace');
  await page.click('text=Save anyway');
  await page.waitForSelector('text=Saved.');
  t.notOk(await page.isChecked('form.edit input[value="store:write"]'));
  await her.reload();
  await settled(her);
  t.notMatch(await her.textContent('main'), 'store:write');

  // Her session is ended from here.
  await page.click('nav >> text=Sessions');
  await settled(page);
  await page.locator('tr', { hasText: 'grace' }).first().getByRole('button').click();
  await page.click('dialog .button-danger');
  await page.waitForSelector('dialog', { state: 'detached' });
  await her.reload();
  await her.waitForURL(/sign-in/);

  // The key goes, and at once.
  await page.click('nav >> text=API keys');
  await page.locator('tr', { hasText: 'nightly export' }).getByRole('button').click();
  await page.click('dialog .button-danger');
  await page.waitForSelector('text=There are no API keys yet.');
  t.equal((await gateway.api.send({ path: '/api/store/1', apiKey: key })).status, 401);

  // She is disabled, and removed.
  await page.click('nav >> text=Users');
  await page.click('td >> text=grace');
  await page.click('text=Disable');
  await page.waitForSelector('dialog >> text=grace has no sessions and no API keys.');
  await page.click('dialog .button-danger');
  await page.waitForSelector('h1 >> text=disabled');
  await page.click('text=Remove');
  await page.click('text=Remove for good');
  await page.waitForURL(/console\/users$/);

  // And it is all in the record.
  await page.click('nav >> text=Audit');
  await settled(page);
  const events = (await page.locator('tbody td .title').allTextContents()).reverse();
  for (const event of [
    'Scope set created',
    'User created',
    'API key created',
    'Scope set changed',
    'API key deleted',
    'User removed',
  ])
    t.ok(events.includes(event), `${event} in ${events.join(', ')}`);
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.click('text=Export as JSON lines'),
  ]);
  const chunks: Buffer[] = [];
  for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
  const lines = Buffer.concat(chunks)
    .toString()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  t.ok(lines.length >= events.length);
  t.ok(lines.every(({ event }) => typeof event === 'string'));
});
