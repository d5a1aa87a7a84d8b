import type { Page } from 'playwright-core';
import t from 'tap';
import { administrator } from '../support/gateway/gateway.ts';
import { openBrowser } from '../support/pages/browser.ts';
import { type ConsoleGateway, settled, startConsole } from '../support/pages/console.ts';
import { complaintsOf, overflows, violationsOf } from '../support/pages/page-judge.ts';

t.setTimeout(600_000);

const names = ['billing', 'invoices', 'orders', 'reports', 'returns', 'stock', 'suppliers', 'warehouse'];
const held = names.map((name) => `${name}:read`);
const scopes = Object.fromEntries(held.map((scope) => [scope, `See ${scope}`]));
const config = { scopes, routes: [{ prefix: '/api', upstream: 'app' }] };

/** A key with eight scopes, one with a set of them, and a user who has lost two and gained six. */
async function fill({ api }: ConsoleGateway): Promise<void> {
  const { accessToken: bearer } = await api.signIn(administrator.username, administrator.password);
  const send = async (method: string, path: string, json: object) => {
    const { status, json: made, text } = await api.send({ method, path, bearer, json });
    if (status > 201) throw new Error(`${status} ${text}`);
    return made;
  };
  const set = await send('POST', '/api/admin/scope-sets/', {
    name: 'everything',
    description: '',
    scopes: held,
  });
  await api.mintKey(bearer, { label: 'of many scopes', scopes: held });
  await send('POST', '/api/admin/api-keys/', {
    label: 'of a set',
    scopes: ['stock:read'],
    scope_sets: [set.id],
  });
  const user = await send('POST', '/api/admin/users/', { username: 'grace', scopes: held.slice(0, 6) });
  await send('PATCH', `/api/admin/users/${user.id}`, { scopes: [] });
}

/** Opens every part of the console in which something has no room, and gives its row there. */
const places = {
  'api-keys': 'of many scopes',
  'api-keys?sort_order=desc': 'of a set',
  'scope-sets': 'everything',
  'audit?event__eq=user_changed': 'grace',
  'audit?event__eq=scope_set_created': 'everything',
} as const;

const missingIn = async (page: Page, row: string, wanted: readonly string[]) => {
  const text = await page.locator('tbody tr', { hasText: row }).first().innerText();
  return wanted.filter((scope) => !text.includes(scope));
};

t.test('scopes that a row has no room for are a key press away', async (t) => {
  const context = await openBrowser(t);
  if (context === null) return;
  const gateway = await startConsole(t, { config });
  await fill(gateway);
  const page = await gateway.open(context, 'administrator', 'api-keys');
  const complaints = complaintsOf(page);
  const focusedRow = () =>
    page.evaluate<string>(`document.activeElement.localName === 'summary'
      ? document.activeElement.closest('tr')?.innerText ?? '' : ''`);
  for (const [place, row] of Object.entries(places))
    await t.test(`${place}: ${row}`, async (t) => {
      await page.goto(`${gateway.origin}/postern/console/${place}`);
      await settled(page);
      await page.waitForSelector(`td >> text=${row}`);
      const wanted = place.includes('user_changed') ? held.slice(0, 6) : held;
      t.not((await missingIn(page, row, wanted)).length, 0, 'not all is shown at first');
      for (let presses = 0; presses < 60 && !(await focusedRow()).includes(row); presses++)
        await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      t.strictSame(await missingIn(page, row, wanted), [], 'Enter shows it');
      t.match(await focusedRow(), row, 'the keyboard stays where it was');
      t.strictSame(await violationsOf(page), []);
      await page.keyboard.press('Space');
      t.not((await missingIn(page, row, wanted)).length, 0, 'Space hides it');
    });
  t.strictSame(complaints, []);
});

t.test('and a touch away on a telephone', async (t) => {
  const options = {
    isMobile: true,
    hasTouch: true,
    deviceScaleFactor: 2,
    viewport: { width: 320, height: 640 },
  };
  const context = await openBrowser(t, options);
  if (context === null) return;
  const gateway = await startConsole(t, { config });
  await fill(gateway);
  const page = await gateway.open(context, 'administrator', 'api-keys');
  for (const [place, row] of Object.entries(places)) {
    await page.goto(`${gateway.origin}/postern/console/${place}`);
    await settled(page);
    await page.waitForSelector(`td >> text=${row}`);
    const summary = page.locator('tbody tr', { hasText: row }).first().locator('summary').first();
    const box = await summary.boundingBox();
    t.ok(box !== null && box.height >= 24 && box.width >= 24, `${place}: a finger finds it`);
    await summary.tap();
    const wanted = place.includes('user_changed') ? held.slice(0, 6) : held;
    t.strictSame(await missingIn(page, row, wanted), [], `${place}: ${row}`);
    t.notOk(await overflows(page), place);
  }
});
