import { join } from 'node:path';
import t from 'tap';
import { openBrowser } from '../support/browser.ts';
import { cloneNewestRow } from '../support/cloned-rows.ts';
import { settled, startConsole } from '../support/console.ts';
import { isLong } from '../support/gateway-under-load.ts';

t.setTimeout(isLong ? 600_000 : 120_000);

const count = isLong ? 100_000 : 300;
/** As the list shows it. */
const shownTotal = (total: number) => total.toLocaleString('en-US');

t.test(`lists of ${count} rows, page by page`, async (t) => {
  const context = await openBrowser(t, { locale: 'en-US' });
  if (context === null) return;
  const gateway = await startConsole(t);
  const { api, folder } = gateway;
  const { accessToken } = await api.signIn('ada', 'correct horse battery staple');
  await api.mintKey(accessToken, { label: 'key', scopes: ['store:read'] });
  const records = join(folder, 'records.db');
  const id = `lower(hex(randomblob(16)))`;
  cloneNewestRow(records, 'api_keys', count - 1, {
    id,
    hash: 'randomblob(32)',
    label: `printf('key %06d', n)`,
    created: '"created" - n * 1000',
  });
  cloneNewestRow(records, 'users', count - 5, {
    id,
    username: `printf('zz user %06d', n)`,
    canonical_name: `printf('zz user %06d', n)`,
    created: '"created" - n * 1000',
  });

  const page = await gateway.open(context, 'administrator', 'api-keys');
  for (const [part, sort] of [
    ['api-keys', 'label'],
    ['users', 'username'],
  ] as const)
    await t.test(part, async (t) => {
      const at = `${gateway.origin}/postern/console/${part}?sort_by=${sort}&sort_order=asc`;
      const firstCell = () => page.locator('tbody tr td').first().innerText();
      await page.goto(at);
      await settled(page);
      t.match(await page.textContent('.pages'), shownTotal(count));
      t.equal(await page.locator('tbody tr').count(), 50);
      const first = await firstCell();
      await page.click('text=Next');
      await settled(page);
      t.not(await firstCell(), first);
      await page.click('text=Previous');
      await settled(page);
      t.equal(await firstCell(), first);
      // From the other end.
      await page.goto(at.replace('asc', 'desc'));
      await settled(page);
      t.match(await firstCell(), String(count - (part === 'users' ? 5 : 1)));
    });
});
