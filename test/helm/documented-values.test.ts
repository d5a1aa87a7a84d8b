import { readFileSync } from 'node:fs';
import t from 'tap';
import { parse } from 'yaml';
import { render, requireHelm } from './helm.ts';

const document = 'docs/kubernetes.md';

t.test(`the values in ${document} can be installed as they stand`, async (t) => {
  if (!requireHelm(t)) return;
  const blocks = [...readFileSync(document, 'utf8').matchAll(/^```yaml\n(.*?)^```$/gms)].map(
    ([, text]) => text!,
  );
  t.ok(blocks.length >= 3);
  const { image } = parse(blocks[0]!);
  for (const block of blocks) {
    const asAbove = block.includes('# image: as above') ? { image } : {};
    t.doesNotThrow(() => render({ ...asAbove, ...parse(block) }), block);
  }
});
