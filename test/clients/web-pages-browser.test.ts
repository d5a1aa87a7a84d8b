import t from 'tap';
import { isLong } from '../support/gateway/gateway-under-load.ts';
import { openBrowser } from '../support/pages/browser.ts';
import { complaintsOf, overflows, rulesOfLooks, violationsOf } from '../support/pages/page-judge.ts';
import { createSite, servePages } from '../support/pages/page-server.ts';
import { pageStates } from '../support/pages/page-states.ts';

t.setTimeout(600_000);

const inlineStyle = '<!doctype html><title>Inline</title><style>p { color: red }</style>';

/** In CSS pixels; 640 is a window of 1280 at a zoom of 200 %. */
const widths = [320, 640, 1280];
const schemes = ['light', 'dark'] as const;
/** At full size each state, with each look; else every sixth state, and of the looks one after the other. */
const names = Object.keys(pageStates).filter((_, index) => isLong || index % 6 === 0);
const allLooks = widths.flatMap((width) => schemes.map((colorScheme) => ({ width, colorScheme })));
const looksOf = (index: number) => (isLong ? allLooks : [allLooks[index % allLooks.length]!]);

t.test('every page, as browsers show it', async (t) => {
  const context = await openBrowser(t, { reducedMotion: 'reduce' });
  if (context === null) return;
  const origin = await servePages(t, createSite(), { ...pageStates, inline: () => inlineStyle });
  const page = await context.newPage();
  const complaints = complaintsOf(page);

  await t.test('a violation of the policy would be seen', async (t) => {
    const inline = await context.newPage();
    const seen = complaintsOf(inline);
    await inline.goto(`${origin}/inline`);
    t.match(seen.join(), /Content Security Policy/);
    await inline.close();
  });

  for (const [index, name] of names.entries()) {
    await t.test(name, async (t) => {
      await page.goto(`${origin}/${name}`);
      t.strictSame(await violationsOf(page), []);
      for (const { width, colorScheme } of looksOf(index)) {
        await page.setViewportSize({ width, height: 640 });
        await page.emulateMedia({ colorScheme });
        t.notOk(await overflows(page), `nothing is cut off at ${width}`);
        t.strictSame(await violationsOf(page, rulesOfLooks), [], `${colorScheme} at ${width}`);
      }
      await page.setViewportSize({ width: 320, height: 640 });
      await page.evaluate('document.documentElement.style.fontSize = "200%"');
      t.notOk(await overflows(page), 'nor with text of twice the size');
      t.strictSame(complaints.splice(0), []);
    });
  }
});
