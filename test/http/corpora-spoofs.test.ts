import t from 'tap';
import { readCorpus } from '../support/corpora/corpus.ts';
import { startCorpusBench } from '../support/corpora/corpus-bench.ts';
import { judge } from '../support/corpora/corpus-judge.ts';
import { expectedRow } from '../support/corpora/engine-differences.ts';
import { spellingsOf } from '../support/corpora/header-spellings.ts';
import { identityHeaders } from '../support/corpora/our-headers.ts';
import { isLong } from '../support/gateway/gateway-under-load.ts';

const callers = {
  key: { path: '/api/store/x', caller: 'Host: {{host}}\r\nX-API-Key: {{key}}\r\n' },
  session: { path: '/api/store/x', caller: 'Host: {{host}}\r\nAuthorization: Bearer {{bearer}}\r\n' },
  nobody: { path: '/api/open/x', caller: 'Host: {{host}}\r\n' },
} as const;

/** The headers that differ by who is calling. */
const ofCaller = identityHeaders.filter((name) => name.startsWith('X-Auth-'));

const values = new Map(identityHeaders.map((header) => [header, spellingsOf(header)]));

/**
 * The headers that a row is sent with: at full size each of them, else for a key every sixth and for others one, other
 * ones from row to row.
 */
function headersOf(as: keyof typeof callers, row: number): readonly (typeof identityHeaders)[number][] {
  const headers = as === 'key' ? identityHeaders : ofCaller;
  const step = as === 'key' ? 6 : headers.length;
  return isLong ? headers : headers.filter((_, index) => index % step === row % step);
}

for (const as of ['key', 'session', 'nobody'] as const)
  t.test(`a client’s claims about itself never reach the upstream: ${as}`, async (t) => {
    const bench = await startCorpusBench(t);
    for (const [index, row] of readCorpus('spoofs').entries())
      await t.test(row.name, async (t) => {
        const expected = expectedRow(row);
        for (const header of headersOf(as, index))
          await judge(t, bench, { ...expected, as }, { values: { ...values.get(header), ...callers[as] } });
      });
  });
