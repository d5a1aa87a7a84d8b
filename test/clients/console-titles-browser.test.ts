import t from 'tap';
import { openBrowser } from '../support/browser.ts';
import { startConsole } from '../support/console.ts';
import { overflows } from '../support/page-judge.ts';

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
      const { right } = await page
        .locator('.brand span')
        .first()
        .evaluate((brand) => brand.getBoundingClientRect().toJSON() as DOMRect);
      t.ok(right <= width, `${title} ends at ${right} of ${width}`);
    }
  }
});
