import t from 'tap';
import { type CorpusRow, readCorpus } from '../support/corpora/corpus.ts';
import { startCorpusBench } from '../support/corpora/corpus-bench.ts';
import { judge } from '../support/corpora/corpus-judge.ts';
import { expectedRow } from '../support/corpora/engine-differences.ts';

/** A row that expects something else where semicolons and encoded slashes are let through. */
interface PathRow extends CorpusRow {
  readonly lenient?: CorpusRow['expect'];
}

t.test('paths, as they are judged by default', async (t) => {
  const bench = await startCorpusBench(t);
  for (const row of readCorpus<PathRow>('paths'))
    await t.test(row.name, (t) => judge(t, bench, expectedRow(row)));
});

t.test('paths, with semicolons and encoded slashes let through', async (t) => {
  const bench = await startCorpusBench(t, { paths: { semicolons: 'pass', encoded_slashes: 'pass' } });
  for (const row of readCorpus<PathRow>('paths'))
    await t.test(row.name, (t) =>
      judge(t, bench, expectedRow({ ...row, expect: row.lenient ?? row.expect })),
    );
});
