import t from 'tap';
import { isLong } from '../support/gateway/gateway-under-load.ts';
import { openBrowser } from '../support/pages/browser.ts';
import { addMany, addSome, settled, startConsole } from '../support/pages/console.ts';

t.setTimeout(600_000);

const count = isLong ? 100_000 : 300;

/** The order to walk each list in, and a column in which rows differ. */
const lists = {
  'api-keys': ['label', 'td:first-child'],
  users: ['username', 'td:first-child'],
  sessions: ['created', 'td:nth-child(4) time'],
  audit: ['time', 'td:nth-child(5) a'],
} as const;

t.test(`lists of ${count} rows, page by page`, async (t) => {
  const context = await openBrowser(t, { locale: 'en-US' });
  if (context === null) return;
  const gateway = await startConsole(t);
  await addSome(gateway);
  addMany(gateway, count);
  const page = await gateway.open(context, 'administrator', 'api-keys');
  for (const [part, [sort, column]] of Object.entries(lists))
    await t.test(part, async (t) => {
      const at = (order: string) =>
        `${gateway.origin}/postern/console/${part}?sort_by=${sort}&sort_order=${order}`;
      const rows = () =>
        page
          .locator(`tbody ${column}`)
          .evaluateAll((cells) => cells.map((cell) => cell.getAttribute('title') ?? cell.textContent));
      await page.goto(at('asc'));
      await settled(page);
      const total = Number((await page.textContent('.pages [role=status]'))!.replace(/\D/g, ''));
      t.ok(total > count && total < count + 200, `${total} in all`);
      const first = await rows();
      t.equal(first.length, 50);
      await page.click('text=Next');
      await settled(page);
      const second = await rows();
      t.equal(second.length, 50);
      t.strictNotSame(second, first);
      await page.click('text=Previous');
      await settled(page);
      t.strictSame(await rows(), first);
      // The other end.
      await page.goto(at('desc'));
      await settled(page);
      t.strictNotSame(await rows(), first);
      t.equal((await rows()).length, 50);
    });
});
