import t from 'tap';
import { readCorpus } from '../support/corpus.ts';
import { startCorpusBench } from '../support/corpus-bench.ts';
import { judge } from '../support/corpus-judge.ts';
import { unlessDifferent } from '../support/engine-differences.ts';

t.test('framing, however the bytes are cut', async (t) => {
  const bench = await startCorpusBench(t);
  for (const row of readCorpus('framing'))
    await t.test(row.name, unlessDifferent(row.name, 'in pieces'), (t) =>
      judge(t, bench, row, { pieces: 60 }),
    );
});
