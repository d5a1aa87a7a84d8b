import t from 'tap';
import { withRecords } from '../support/administration/accounts.ts';
import { readCorpus } from '../support/corpora/corpus.ts';
import { startCorpusBench } from '../support/corpora/corpus-bench.ts';
import { judge } from '../support/corpora/corpus-judge.ts';
import { createTokenForge, type TokenRow } from '../support/corpora/corpus-tokens.ts';

t.test('forged access tokens', async (t) => {
  const bench = await startCorpusBench(t);
  const { keys } = await withRecords(bench.gateway.folder, async (records) => records.signingKeys());
  const own = keys.find(({ purpose }) => purpose === 'access-token');
  const forge = createTokenForge(bench.values.bearer!, own!, 'https://acme.example.com');
  for (const row of readCorpus<TokenRow>('tokens'))
    await t.test(row.name, (t) => judge(t, bench, row, { values: { token: forge.tokenOf(row) } }));
});
