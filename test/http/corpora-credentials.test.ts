import { hash } from 'node:crypto';
import t from 'tap';
import { mintApiKey } from '../../src/credentials/api-key.ts';
import { readCorpus } from '../support/corpora/corpus.ts';
import { startCorpusBench } from '../support/corpora/corpus-bench.ts';
import { judge } from '../support/corpora/corpus-judge.ts';
import { bootstrapToken } from '../support/gateway/gateway.ts';

const escaped = (text: string) => [...text].map((c) => `%${c.charCodeAt(0).toString(16)}`).join('');
const base64 = (text: string) => Buffer.from(text).toString('base64');

/** The text with another letter or digit at that position. */
function changedAt(text: string, at: number): string {
  return text.slice(0, at) + (text[at] === 'a' ? 'b' : 'a') + text.slice(at + 1);
}

/** What becomes of a good credential that is not quite presented as one. */
function variants({ key = '', bearer = '', cookie = '' }: Readonly<Record<string, string>>) {
  return {
    'bearer-cut': bearer.slice(0, -1),
    'bearer-capitals': bearer.toUpperCase(),
    'bearer-escaped': escaped(bearer),
    'bearer-base64': base64(bearer),
    'key-cut': key.slice(0, -1),
    'key-capitals': key.toUpperCase(),
    'key-lower': key.toLowerCase(),
    'key-prefix': key.replace('pst_', 'tsp_'),
    'key-first': changedAt(key, key.indexOf('_') + 1),
    'key-checksum': changedAt(key, key.length - 1),
    'key-unknown': mintApiKey('pst', (count) => Buffer.alloc(count, 7)).raw,
    'key-escaped': escaped(key),
    'key-base64': base64(key),
    'key-hash': hash('sha256', key),
    'cookie-value': cookie.slice(cookie.indexOf('=') + 1),
    bootstrap: bootstrapToken,
  };
}

t.test('credentials as they are presented', async (t) => {
  const bench = await startCorpusBench(t);
  const keyId = bench.identities.key['X-Auth-Key-Id']!;
  const values = { ...variants(bench.values), 'key-id': keyId };
  for (const row of readCorpus('credentials'))
    await t.test(row.name, (t) => judge(t, bench, row, { values }));
});
