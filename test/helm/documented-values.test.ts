import { readFileSync } from 'node:fs';
import t from 'tap';
import { parse } from 'yaml';
import { render, requireHelm, withValuesFile } from './helm.ts';

const document = 'docs/kubernetes.md';

t.test(`the values in ${document} can be installed as they stand`, async (t) => {
  if (!requireHelm(t)) return;
  const blocks = [...readFileSync(document, 'utf8').matchAll(/^```yaml\n(.*?)^```$/gms)].map(
    ([, text]) => text!,
  );
  t.ok(blocks.length >= 3);
  const first = parse(blocks[0]!);
  for (const block of blocks) {
    t.doesNotThrow(() => renderBlock(block, first), block);
  }
});

/** Renders the values of one block: alone, with the image of the first block, or beside the whole of it, as it says. */
function renderBlock(block: string, first: { image: unknown }): void {
  const values = parse(block);
  if (/^# (?:web|mutual-tls)\.yaml/.test(block)) {
    withValuesFile(values, (file) => render(first, { args: ['--values', file] }));
    return;
  }
  render(block.includes('# image: as above') ? { image: first.image, ...values } : values);
}
