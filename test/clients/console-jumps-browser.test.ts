import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import t from 'tap';
import { administrator } from '../support/gateway/gateway.ts';
import { isLong } from '../support/gateway/gateway-under-load.ts';
import { openBrowser } from '../support/pages/browser.ts';
import { addSome, type ConsoleGateway, settled, startConsole } from '../support/pages/console.ts';

t.setTimeout(600_000);

/** Has a page note what moves, as browsers count it (Layout Instability), with the elements that moved. */
const noteShifts = `
  globalThis.shifts = [];
  new PerformanceObserver((list) => {
    for (const { value, sources } of list.getEntries())
      shifts.push(value.toFixed(4) + ' ' + sources.map(({ node }) => node?.parentElement?.outerHTML.slice(0, 80)).join(' | '));
  }).observe({ type: 'layout-shift', buffered: true });`;

/** Slows every call of the API, each by another time: what comes later is seen to, and the bar before all. */
async function slowDown(page: Page): Promise<void> {
  let calls = 0;
  await page.route('**/api/**', async (route) => {
    const isFirst = route.request().url().includes('/api/login/');
    await sleep(isFirst ? 150 : 10 + (calls++ % 4) * 25);
    await route.continue();
  });
}

/** Texts of rows that lie below the action at the end of the row. */
const covered = `[...document.querySelectorAll('td.card-action')].flatMap((cell) => {
  const action = (cell.querySelector('button, .state') ?? cell).getBoundingClientRect();
  const found = [];
  for (const other of cell.parentElement.cells) {
    if (other === cell || getComputedStyle(other).display === 'none') continue;
    const range = document.createRange();
    range.selectNodeContents(other);
    for (const { left, right, top, bottom } of range.getClientRects())
      if (left < action.right && right > action.left && top < action.bottom && bottom > action.top) found.push(other.innerText);
  }
  return found;
})`;

/** Ids of a user, with an account that is linked, and a key, both with something to show. */
async function addMore({ api }: ConsoleGateway) {
  const { accessToken: bearer } = await api.signIn(administrator.username, administrator.password);
  const list = async (path: string) => (await api.send({ path, bearer })).json.items;
  const [user] = await list('/api/admin/users/?username__eq=grace');
  const [key] = await list('/api/admin/api-keys/?size=1');
  const [set] = await list('/api/admin/scope-sets/?name__eq=readers');
  const link = { provider: 'staff', subject: `auth0|${'0123456789'.repeat(6)}` };
  const path = `/api/admin/users/${user.id}/identities`;
  const { status, text } = await api.send({ method: 'POST', path, bearer, json: link });
  if (status !== 201) throw new Error(text);
  return { user: user.id, key: key.id, set: set.id };
}

t.test('nothing moves when data arrive, and nothing covers anything', async (t) => {
  const context = await openBrowser(t, { reducedMotion: 'reduce' });
  if (context === null) return;
  const title = 'Landesanstalt für Umweltbeobachtung';
  const staff = { issuer: 'https://login.example.com', client_id: 'postern', title };
  const identity_providers = { staff };
  const gateway = await startConsole(t, { config: { identity_providers } });
  await addSome(gateway);
  const { user, key, set } = await addMore(gateway);
  const page = await gateway.open(context, 'administrator');
  await page.addInitScript(noteShifts);
  await slowDown(page);
  const views = [
    '',
    'api-keys',
    `api-keys/${key}`,
    'sessions',
    'users',
    `users/${user}`,
    'scope-sets',
    `scope-sets/${set}`,
    'audit',
    'account',
  ];
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 844 });
    for (const [index, view] of views.entries()) {
      // Each at one width in the default size.
      if (!isLong && (index % 2 === 0) === (width === 1280)) continue;
      await page.goto(`${gateway.origin}/postern/console/${view}`);
      await settled(page);
      await page.evaluate(
        'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))',
      );
      t.strictSame(await page.evaluate('shifts'), [], `${view} at ${width}`);
      t.strictSame(await page.evaluate(covered), [], `${view} at ${width}`);
    }
  }
});

t.test('the links of the bar have their places before it is known who may see them', async (t) => {
  const context = await openBrowser(t);
  if (context === null) return;
  const gateway = await startConsole(t);
  const page = await gateway.open(context, 'administrator');
  const held = Promise.withResolvers<void>();
  await page.route('**/api/login/refresh-token', async (route) => {
    await held.promise;
    await route.continue();
  });
  await page.goto(`${gateway.origin}/postern/console/audit`);
  await page.waitForSelector('main >> text=Loading…');
  const audit = page.locator('nav[aria-label=Console] a', { hasText: 'Audit' });
  t.notOk(await page.isVisible('nav[aria-label=Console] a'));
  const before = await audit.boundingBox();
  held.resolve();
  await settled(page);
  t.ok(await audit.isVisible());
  t.strictSame(await audit.boundingBox(), before);
  t.equal(await page.title(), 'Audit · Orders');
});
