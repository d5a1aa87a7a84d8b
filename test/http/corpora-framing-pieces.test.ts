import t from 'tap';
import { readCorpus } from '../support/corpus.ts';
import { startCorpusBench } from '../support/corpus-bench.ts';
import { judge } from '../support/corpus-judge.ts';
import { expectedRow } from '../support/engine-differences.ts';

t.test('framing, however the bytes are cut', async (t) => {
  const bench = await startCorpusBench(t);
  for (const row of readCorpus('framing'))
    await t.test(row.name, (t) => judge(t, bench, expectedRow(row), { pieces: 60 }));
});
