import t from 'tap';
import { drawBars } from '../../bench/bars.ts';
import { picturesOf } from '../../bench/pictures.ts';
import { cpuCost } from '../../bench/rows.ts';
import { nothingMeasured } from '../support/nothing-measured.ts';

const bar = (label: string, value: number, isOurs = false) => ({ label, value, figure: `${value}`, isOurs });

const draw = (...bars: ReturnType<typeof bar>[]) =>
  drawBars({ title: 'A title', subtitle: 'what it is', bars });

t.test('bars are in proportion to the longest', async (t) => {
  const widths = [...draw(bar('a', 100), bar('b', 25)).matchAll(/<rect [^>]*width="(\d+)"/g)].map(
    ([, width]) => Number(width),
  );
  t.equal(widths.length, 2);
  t.equal(widths[1], widths[0]! / 4);
});

t.test('ours stand out, in light and in dark', async (t) => {
  const picture = draw(bar('postern-key', 1, true), bar('other', 2));
  t.equal(picture.match(/<g class="ours">/g)?.length, 1);
  t.match(picture, '@media (prefers-color-scheme: dark)');
});

t.test('it is as wide as a narrow telephone and its letters are no smaller than twelve pixels', async (t) => {
  const picture = draw(bar('a', 1));
  t.match(picture, 'viewBox="0 0 320 ');
  for (const [, size] of picture.matchAll(/(\d+)px/g)) t.ok(Number(size) >= 12, size!);
});

t.test('a reader that shows no pictures gets the figures as text', async (t) => {
  t.match(draw(bar('a', 1), bar('b', 2)), '<desc id="summary">what it is: a 1, b 2</desc>');
});

t.test('names are escaped, and no value is no bar of NaN', async (t) => {
  const picture = draw(bar('<a> & b', 0));
  t.match(picture, '&lt;a&gt; &amp; b');
  t.notMatch(picture, 'NaN');
});

t.test('there is a picture of each part that was measured, the cheapest row first', async (t) => {
  const row = (name: string, cost: number) => ({
    ...{ name, requestsPerSecond: 1, p50Ms: 1, p99Ms: 1, peakMemoryMiB: 1 },
    cpu: cpuCost([cost]),
  });
  t.equal(picturesOf(nothingMeasured).size, 0);
  const saturation = [row('http-proxy-3', 200), row('postern-key', 75.4)];
  const added = { p50Ms: -0.01, p99Ms: 2 };
  const halfLoad = [{ name: 'postern-key', perSecond: 1, added, fastest: undefined }];
  const pictures = picturesOf({ ...nothingMeasured, saturation, halfLoad });
  t.same([...pictures.keys()], ['bench-cpu.svg', 'bench-latency.svg']);
  t.match(pictures.get('bench-cpu.svg'), 'postern-key 75, http-proxy-3 200');
  t.match(pictures.get('bench-latency.svg'), '-0.01 (2.0)');
  t.notMatch(pictures.get('bench-latency.svg'), 'width="-');
});
