import t from 'tap';
import { shownText } from '../support/corpora/shown-text.ts';
import { openBrowser } from '../support/pages/browser.ts';
import { createSite, servePages } from '../support/pages/page-server.ts';
import { pagesWith, someMarkupTexts } from '../support/pages/page-texts.ts';
import { elementsIn, elementsOf, openWatched } from '../support/pages/page-watch.ts';

t.setTimeout(600_000);

t.test('pages with a text wherever one comes from outside', async (t) => {
  const context = await openBrowser(t);
  if (context === null) return;
  const all = Object.entries(pagesWith);
  const shown = all.flatMap(([, render], index) => [
    ...someMarkupTexts.map((text, of) => [`${index}/${of}`, () => render(text)] as const),
    [`${index}/harmless`, () => render('text')] as const,
  ]);
  const inline = () => '<!doctype html><title>x</title><p>x<script>window.__xss = 1</script>';
  const origin = await servePages(t, createSite(), { ...Object.fromEntries(shown), inline });
  const { page, watch } = await openWatched(context, origin);

  await t.test('the watch sees a violated policy and a script that ran', async (t) => {
    await page.goto(`${origin}/inline`);
    t.match((await watch.taken()).join(), /console .*Content Security Policy/);
    await page.evaluate('window.__xss = 1; fetch("http://127.0.0.1:1/").catch(() => {}); void 0');
    t.match((await watch.taken()).join(), /a script ran/);
    await page.goto(`${origin}/inline`);
    await watch.taken();
  });

  for (const [index, [name, render]] of all.entries())
    await t.test(`${name}: a browser reads the same elements`, async (t) => {
      await page.goto(`${origin}/${index}/harmless`);
      const [harmless] = await elementsIn(page, [render('text')]);
      const read = await elementsIn(page, someMarkupTexts.map(render));
      for (const [of, text] of someMarkupTexts.entries()) t.strictSame(read[of], harmless, shownText(text));
    });

  await t.test('nothing runs when it shows them', async (t) => {
    const harmless = new Map<number, string[]>();
    for (const index of all.keys()) {
      await page.goto(`${origin}/${index}/harmless#token=text`);
      harmless.set(index, await elementsOf(page));
    }
    await watch.taken();
    for (const [of, text] of someMarkupTexts.entries()) {
      const index = of % all.length;
      await page.goto(`${origin}/${index}/${of}#token=${encodeURIComponent(text)}`);
      t.strictSame(await elementsOf(page), harmless.get(index), shownText(text));
      t.strictSame(await watch.taken(), [], shownText(text));
    }
  });
});
