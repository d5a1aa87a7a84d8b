import { join } from 'node:path';
import t, { type Test } from 'tap';
import { isLong } from '../support/gateway/gateway-under-load.ts';
import { openBrowser } from '../support/pages/browser.ts';
import { addSome, type ConsoleGateway, settled, startConsole } from '../support/pages/console.ts';
import { overflows } from '../support/pages/page-judge.ts';
import { markupTexts } from '../support/pages/page-texts.ts';
import { watchPage } from '../support/pages/page-watch.ts';
import { cloneNewestRow, greatest, setNumber } from '../support/stores/cloned-rows.ts';

t.setTimeout(isLong ? 900_000 : 600_000);

/** Each alone, and behind so much that doesn't break that a layout might; one in seven of them in the default size. */
const texts = [...markupTexts, ...markupTexts.map((text) => 'x'.repeat(150) + text)].filter(
  (_, index) => isLong || index % 7 === 0,
);
const pageSize = 100;

/** SQL for the text of the n-th row. */
const textOfRow = `json_extract('${JSON.stringify(texts).replaceAll("'", "''")}', '$[' || (n - 1) || ']')`;

/** Puts the texts wherever one from outside is kept, past all checks of what comes in. */
function addTexts({ folder }: ConsoleGateway): void {
  const records = join(folder, 'records.db');
  const count = texts.length;
  const id = `printf('text-%06d', n)`;
  const created = '"created" - n * 1000';
  cloneNewestRow(records, {
    table: 'api_keys',
    newestBy: 'created',
    count,
    changed: { id, hash: 'randomblob(32)', label: textOfRow, hint: textOfRow, created },
  });
  cloneNewestRow(records, {
    table: 'users',
    newestBy: 'created',
    count,
    changed: {
      id,
      username: textOfRow,
      canonical_name: id,
      display_name: textOfRow,
      email: textOfRow,
      created,
    },
  });
  cloneNewestRow(records, {
    table: 'scope_sets',
    newestBy: 'created',
    count,
    changed: { id, name: `${textOfRow} || n`, description: textOfRow, created },
  });
  cloneNewestRow(join(folder, 'sessions.db'), {
    table: 'sessions',
    newestBy: 'created',
    count,
    changed: { id, user_agent: textOfRow, address: textOfRow, created },
  });
  const seq = greatest(records, 'audit_state', 'seq');
  const body = `json_set("body", '$.reason', ${textOfRow}, '$.user_agent', ${textOfRow})`;
  const texted = { target_id: textOfRow, address: textOfRow, request_id: textOfRow, body };
  cloneNewestRow(records, {
    table: 'audit',
    newestBy: 'seq',
    count,
    changed: { id, seq: `${seq} + n`, ...texted },
  });
  setNumber(records, 'audit_state', 'seq', seq + count);
}

const lists = ['api-keys', 'users', 'scope-sets', 'sessions', 'audit'];
const details = ['users', 'scope-sets'];

t.test(`${texts.length} texts of attack in every list`, async (t) => {
  const context = await openBrowser(t);
  if (context === null) return;
  const gateway = await startConsole(t);
  await addSome(gateway);
  const page = await gateway.open(context, 'administrator');
  addTexts(gateway);
  const watch = watchPage(page, gateway.origin);
  const look = async (t: Test, path: string) => {
    await page.goto(`${gateway.origin}/postern/console/${path}`);
    await settled(page);
    t.strictSame(await watch.taken(), [], path);
    t.equal(await page.locator('script, img, iframe, object, embed, style, base, marquee').count(), 1, path);
    for (const width of [320, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      t.notOk(await overflows(page), `${path} at ${width}`);
    }
  };
  for (const list of lists)
    await t.test(list, async (t) => {
      for (let seen = 0, path = `${list}?size=${pageSize}`; ; ) {
        await look(t, path);
        const rows = await page.locator('tbody tr').count();
        t.ok(rows > 0);
        seen += rows;
        const next = page.locator('.pages a >> text=Next');
        const href = (await next.count()) === 0 ? null : await next.getAttribute('href');
        if (seen >= texts.length || href === null) {
          t.ok(seen >= texts.length, `${seen} rows`);
          break;
        }
        path = new URL(href, gateway.origin).href.split('/console/')[1]!;
      }
    });
  for (const kind of details)
    await t.test(`the pages of single ${kind}`, async (t) => {
      for (let n = 1; n <= texts.length; n += 29) await look(t, `${kind}/text-${String(n).padStart(6, '0')}`);
    });
});
