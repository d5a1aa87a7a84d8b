import t from 'tap';
import { readCorpus } from '../support/corpus.ts';
import { startCorpusBench } from '../support/corpus-bench.ts';
import { judge } from '../support/corpus-judge.ts';
import { expectedRow } from '../support/engine-differences.ts';
import { spellingsOf } from '../support/header-spellings.ts';
import { identityHeaders } from '../support/our-headers.ts';

const callers = {
  key: { path: '/api/store/x', caller: 'Host: {{host}}\r\nX-API-Key: {{key}}\r\n' },
  session: { path: '/api/store/x', caller: 'Host: {{host}}\r\nAuthorization: Bearer {{bearer}}\r\n' },
  nobody: { path: '/api/open/x', caller: 'Host: {{host}}\r\n' },
} as const;

/** The headers that differ by who is calling. */
const ofCaller = identityHeaders.filter((name) => name.startsWith('X-Auth-'));

for (const as of ['key', 'session', 'nobody'] as const)
  t.test(`what a client says of itself never reaches the upstream: ${as}`, async (t) => {
    const bench = await startCorpusBench(t);
    for (const row of readCorpus('spoofs'))
      await t.test(row.name, async (t) => {
        const expected = expectedRow(row);
        for (const header of as === 'key' ? identityHeaders : ofCaller)
          await judge(t, bench, { ...expected, as }, { values: { ...spellingsOf(header), ...callers[as] } });
      });
  });
