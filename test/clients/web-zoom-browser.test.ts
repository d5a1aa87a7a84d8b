import type { BrowserContextOptions, Page } from 'playwright-core';
import t from 'tap';
import { openBrowser } from '../support/pages/browser.ts';
import { createSite, servePages } from '../support/pages/page-server.ts';
import { pageStates } from '../support/pages/page-states.ts';

t.setTimeout(600_000);

/** Sizes in CSS pixels, as a window has them at a zoom of twice the device scale. */
const windows: Readonly<Record<string, BrowserContextOptions>> = {
  'a narrow telephone': { viewport: { width: 320, height: 568 }, deviceScaleFactor: 2, isMobile: true },
  'a narrow telephone in the dark': {
    viewport: { width: 320, height: 568 },
    deviceScaleFactor: 2,
    isMobile: true,
    colorScheme: 'dark',
  },
  'a window of 1280 by 800 at 200 %': { viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 },
  // What WCAG 2.2 §1.4.10 asks for.
  'a window of 1280 by 1024 at 400 %': {
    viewport: { width: 320, height: 256 },
    deviceScaleFactor: 4,
    colorScheme: 'dark',
  },
};

/** What of a page can't be seen, or only by scrolling to the side; texts for screen readers are hidden on purpose. */
const cutOff = (page: Page) =>
  page.evaluate<string[]>(`(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    const found = scrollWidth > clientWidth ? ['the page is ' + scrollWidth + ' wide'] : [];
    for (const element of document.body.querySelectorAll('*')) {
      const { left, right, top, width } = element.getBoundingClientRect();
      if (width === 0 || element.closest('.unseen, svg') !== null) continue;
      const name = element.localName + '.' + element.className + ' ' + element.textContent.trim().slice(0, 30);
      if (left < 0 || right > clientWidth + 0.5 || top + scrollY < 0) found.push('outside: ' + name);
      const { display, overflowX, overflowY, textOverflow } = getComputedStyle(element);
      if (overflowX !== 'visible' || overflowY !== 'visible' || textOverflow !== 'clip')
        if (element.localName !== 'input') found.push('may be cut off: ' + name);
      const overflows = display !== 'inline' && element.localName !== 'input' && element.scrollWidth > element.clientWidth + 1;
      if (overflows) found.push('does not fit: ' + name);
    }
    return found;
  })()`);

/** What a person may have to reach with a finger is at least 24 pixels in each direction (WCAG 2.2 §2.5.8). */
const tooSmall = (page: Page) =>
  page.evaluate<string[]>(`[...document.querySelectorAll('a, button, input')]
    .map((element) => ({ element, box: element.getBoundingClientRect() }))
    .filter(({ box }) => box.width > 0 && (box.width < 24 || box.height < 24))
    .map(({ element }) => element.outerHTML)`);

for (const [name, options] of Object.entries(windows))
  t.test(`in ${name} no page is cut off, and none scrolls to the side`, async (t) => {
    const context = await openBrowser(t, options);
    if (context === null) return;
    const wide = () =>
      '<!doctype html><meta name="viewport" content="width=device-width"><table width="800"><td>wide</table>';
    const origin = await servePages(t, createSite(), { ...pageStates, wide });
    const page = await context.newPage();
    await page.goto(`${origin}/wide`);
    t.not((await cutOff(page)).length, 0, 'it would be seen');
    for (const state of Object.keys(pageStates)) {
      await page.goto(`${origin}/${state}`);
      t.strictSame(await cutOff(page), [], state);
      t.strictSame(await tooSmall(page), [], `${state}: targets`);
    }
  });
