import t from 'tap';
import { readCorpus } from '../support/corpora/corpus.ts';
import { startCorpusBench } from '../support/corpora/corpus-bench.ts';
import { judge } from '../support/corpora/corpus-judge.ts';
import { expectedRow } from '../support/corpora/engine-differences.ts';

t.test('framing, however the bytes are cut', async (t) => {
  const bench = await startCorpusBench(t);
  for (const row of readCorpus('framing'))
    await t.test(row.name, (t) => judge(t, bench, expectedRow(row), { pieces: 60 }));
});
