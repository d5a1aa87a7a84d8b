import type { Page } from 'playwright-core';
import t from 'tap';
import { administrator } from '../support/gateway/gateway.ts';
import { openBrowser } from '../support/pages/browser.ts';
import { type ConsoleGateway, settled, startConsole } from '../support/pages/console.ts';
import { overflows } from '../support/pages/page-judge.ts';

t.setTimeout(600_000);

const scopes = {
  'store:read': 'Read assets',
  'store:write': 'Change assets',
  'warehouse:stock:read': 'Read the stock',
};

/** Names as people have them, beside some that are too long for any column. */
async function fill({ api }: ConsoleGateway): Promise<{ readonly user: string; readonly set: string }> {
  const { accessToken: bearer } = await api.signIn(administrator.username, administrator.password);
  const make = async (path: string, json: object): Promise<string> => {
    const { status, json: made, text } = await api.send({ method: 'POST', path, bearer, json });
    if (status !== 201) throw new Error(`${status} ${text}`);
    return made.id;
  };
  const set = await make('/api/admin/scope-sets/', {
    name: 'Lagerverwaltung Nord',
    description: 'Internationalisation of the warehouse',
    scopes: Object.keys(scopes),
  });
  const people = [
    ['maria.schneider', 'Maria Schneider', 'maria.schneider@example.com'],
    ['bartholomew.hastings', 'Bartholomew Hastings', 'bartholomew.hastings@nordwind.example.com'],
    ['x'.repeat(90), 'y'.repeat(90), `${'z'.repeat(60)}@${'w'.repeat(60)}.example`],
  ] as const;
  const ids: string[] = [];
  for (const [username, display_name, email] of people)
    ids.push(await make('/api/admin/users/', { username, display_name, email, scope_sets: [set] }));
  await make('/api/admin/users/', { username: 'nightly', kind: 'service', scope_sets: [set] });
  for (const label of ['nightly export', 'Lieferantenabrechnung', 'k'.repeat(128)])
    for (const id of ids)
      await make(`/api/admin/users/${id}/api-keys`, {
        label,
        scopes: ['store:read', 'warehouse:stock:read'],
      });
  return { user: ids[1]!, set };
}

/** Words of a table of at most that many letters that are on more than one line. */
const tornWords = (page: Page, letters: number) =>
  page.evaluate<string[]>(`(() => {
    const torn = new Set();
    const range = document.createRange();
    const top = (node, index) => {
      range.setStart(node, index);
      range.setEnd(node, index + 1);
      return range.getBoundingClientRect().top;
    };
    for (const cell of document.querySelectorAll('td, th'))
      for (const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT); walker.nextNode(); ) {
        const node = walker.currentNode;
        if (node.parentElement.closest('.unseen') !== null) continue;
        for (const { 0: word, index } of node.data.matchAll(/[^\\s-]+/g))
          if (word.length <= ${letters} && Math.abs(top(node, index) - top(node, index + word.length - 1)) > 3) torn.add(word);
      }
    return [...torn];
  })()`);

/** Tables that have to be scrolled sideways. */
const tooWide = (page: Page) =>
  page
    .locator('.table-frame')
    .evaluateAll((frames) => frames.filter((frame) => frame.scrollWidth > frame.clientWidth).length);

t.test('no word of a table is torn', async (t) => {
  const context = await openBrowser(t, { locale: 'en-GB' });
  if (context === null) return;
  const gateway = await startConsole(t, { config: { scopes } });
  const { user, set } = await fill(gateway);
  const page = await gateway.open(context, 'administrator', 'users');
  const views = [
    'api-keys',
    'users',
    `users/${user}`,
    'scope-sets',
    `scope-sets/${set}`,
    'sessions',
    'audit',
  ];
  for (const view of views)
    await t.test(view.split('/')[0]!, async (t) => {
      await page.goto(`${gateway.origin}/postern/console/${view}`);
      await settled(page);
      if (view === 'audit') await page.waitForSelector('td >> text=key Lieferantenabrechnung');
      await page.evaluate(`for (const folded of document.querySelectorAll('details')) folded.open = true`);
      for (const [width, letters] of [
        [1920, 21],
        [1280, 21],
        [1024, 21],
        [640, 21],
        [390, 21],
        [320, 15],
      ] as const) {
        await page.setViewportSize({ width, height: 800 });
        t.strictSame(await tornWords(page, letters), [], `at ${width}`);
        t.notOk(await overflows(page), `nothing is beyond a window of ${width}`);
        t.equal(await tooWide(page), 0, `nor beyond its table at ${width}`);
      }
    });
});

t.test('letters of twice the size', async (t) => {
  const context = await openBrowser(t, { locale: 'en-GB' }, { fontSize: 32 });
  if (context === null) return;
  const gateway = await startConsole(t, { config: { scopes } });
  await fill(gateway);
  const page = await gateway.open(context, 'administrator', 'users');
  for (const view of ['api-keys', 'users', 'scope-sets', 'sessions', 'audit']) {
    await page.goto(`${gateway.origin}/postern/console/${view}`);
    await settled(page);
    for (const width of [320, 640, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      t.notOk(await overflows(page), `${view} at ${width}`);
    }
  }
});
