import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { openBrowser } from '../support/pages/browser.ts';
import { createSite, servePages } from '../support/pages/page-server.ts';
import { pageStates } from '../support/pages/page-states.ts';
import { assertPicture } from '../support/pages/pictures.ts';

t.setTimeout(600_000);

/** Names of the files, and the pages that they show. */
const pictures = { 'sign-in': 'sign-in-providers', home: 'home', error: 'error-scope' } as const;
const width = 560;
const maxBytes = 150_000;

const guide = readFileSync(join(import.meta.dirname, '../../docs/browser.md'), 'utf8');

t.test('the pictures of the pages', async (t) => {
  const context = await openBrowser(t, { deviceScaleFactor: 2 });
  if (context === null) return;
  const origin = await servePages(t, createSite(), pageStates);
  const page = await context.newPage();
  // As high as its page, at least.
  await page.setViewportSize({ width, height: 100 });
  for (const [name, state] of Object.entries(pictures)) {
    await page.goto(`${origin}/${state}`);
    await assertPicture(t, page, { name, maxBytes });
    t.match(guide, `](images/${name}.png)`, 'and is shown');
  }
});
