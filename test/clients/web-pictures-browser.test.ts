import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { openBrowser } from '../support/browser.ts';
import { createSite, servePages } from '../support/page-server.ts';
import { pageStates } from '../support/page-states.ts';

t.setTimeout(120_000);

const folder = join(import.meta.dirname, '../../docs/images');
const isUpdate = process.env.UPDATE === '1';
/** Names of the files, and the pages that they show. */
const pictures = { 'sign-in': 'sign-in-providers', home: 'home', error: 'error-scope' } as const;
const width = 560;
const scale = 2;
const maxBytes = 150_000;

const guide = readFileSync(join(import.meta.dirname, '../../docs/browser.md'), 'utf8');

/** Pixels of a PNG: the first chunk begins with them. */
const sizeOf = (png: Buffer) => ({ width: png.readUInt32BE(16), height: png.readUInt32BE(20) });

t.test('the pictures of the pages', async (t) => {
  const context = await openBrowser(t, { deviceScaleFactor: scale });
  if (context === null) return;
  const origin = await servePages(t, createSite(), pageStates);
  const page = await context.newPage();
  // As high as its page, at least.
  await page.setViewportSize({ width, height: 100 });
  for (const [name, state] of Object.entries(pictures)) {
    const file = join(folder, `${name}.png`);
    await page.goto(`${origin}/${state}`);
    await page.evaluate('document.activeElement.blur()');
    const png = await page.screenshot({ fullPage: true });
    if (isUpdate) {
      mkdirSync(folder, { recursive: true });
      writeFileSync(file, png);
    }
    const kept = readFileSync(file);
    t.equal(sizeOf(kept).width, width * scale, name);
    t.ok(kept.length < maxBytes, `${kept.length} bytes`);
    // Fonts differ from machine to machine, and with them where lines break.
    const [is, was] = [sizeOf(png).height, sizeOf(kept).height];
    t.ok(Math.abs(is - was) < was / 5, `${name} looks like its page: UPDATE=1 takes it again`);
    t.match(guide, `](images/${name}.png)`, 'and is shown');
  }
});
