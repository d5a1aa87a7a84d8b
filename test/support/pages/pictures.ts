import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import type { Test } from 'tap';

const folder = join(import.meta.dirname, '../../../docs/images');

/** Pixels of a PNG: the first chunk begins with them. */
const sizeOf = (png: Buffer) => ({ width: png.readUInt32BE(16), height: png.readUInt32BE(20) });

/**
 * Asserts that `docs/images/<name>.png` looks like the page that is shown: as wide, about as high, and no larger than
 * `maxBytes`. With `UPDATE=1` the picture is taken again.
 */
export async function assertPicture(
  t: Test,
  page: Page,
  { name, maxBytes }: { readonly name: string; readonly maxBytes: number },
): Promise<void> {
  const file = join(folder, `${name}.png`);
  await page.evaluate('document.activeElement.blur()');
  const png = await page.screenshot({ fullPage: true });
  if (process.env.UPDATE === '1') {
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, png);
  }
  const kept = readFileSync(file);
  t.equal(sizeOf(kept).width, sizeOf(png).width, name);
  t.ok(kept.length < maxBytes, `${kept.length} bytes`);
  // Fonts differ from machine to machine, and with them where lines break.
  const [is, was] = [sizeOf(png).height, sizeOf(kept).height];
  t.ok(Math.abs(is - was) < was / 5, `${name} looks like its page: UPDATE=1 takes it again`);
}
