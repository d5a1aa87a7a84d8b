import t from 'tap';
import { readCorpus } from '../support/corpora/corpus.ts';
import { type AddedHeaders, startCorpusBench } from '../support/corpora/corpus-bench.ts';
import { judge } from '../support/corpora/corpus-judge.ts';
import { expectedRow } from '../support/corpora/engine-differences.ts';
import { spellingsOf } from '../support/corpora/header-spellings.ts';
import { identityHeaders } from '../support/corpora/our-headers.ts';
import { isLong } from '../support/gateway/gateway-under-load.ts';

const callers = {
  session: { path: '/api/store/x', caller: 'Host: {{host}}\r\nAuthorization: Bearer {{bearer}}\r\n' },
  nobody: { path: '/api/open/x', caller: 'Host: {{host}}\r\n' },
} as const;

const fixed = { 'X-Shared-Secret': 'geheim', Authorization: 'Basic cG9zdGVybjpnZWhlaW0=' };
/** What is stripped is put before again, so that the upstream sees the paths of the corpus. */
const settingsOf = (url: string) => ({
  url: `${url}/api`,
  headers: fixed,
  identity_headers: {
    'Remote-User': { from: 'username', encoding: 'utf8' },
    'X-Webauth-Role': {
      from: 'scope_sets',
      first: [{ administrator: 'Verwaltung für alle' }],
      encoding: 'utf8',
    },
  },
});
const config = {
  headers: { pass: ['X-Auth-Token'] },
  routes: [
    { prefix: '/api/store', upstream: 'app', strip_prefix: '/api' },
    { prefix: '/api/open', upstream: 'app', strip_prefix: '/api', public: true },
  ],
};
const utf8 = (text: string) => Buffer.from(text).toString('latin1');
const ofAll = { ...fixed, 'X-Forwarded-Prefix': '/api' };
const added: AddedHeaders = {
  key: { ...ofAll, 'Remote-User': 'ada' },
  session: { ...ofAll, 'Remote-User': 'ada', 'X-Webauth-Role': utf8('Verwaltung für alle') },
  nobody: ofAll,
};

/** Names that a client must not say, beside those of Postern's own. */
const names = [
  ...['X-Shared-Secret', 'Remote-User', 'X-Webauth-Role', 'X-Forwarded-Prefix', 'X-Auth-Tokens'],
  ...identityHeaders.filter((name) => name.startsWith('X-Auth-')),
];
const values = new Map([...names, 'X-Auth-Token'].map((name) => [name, spellingsOf(name)]));
/** True for rows in which no field has the name as it is spelled, case aside, but one has it with other marks for hyphens. */
const isOdd = (send: unknown) =>
  !/\{\{name\}\}:/i.test(JSON.stringify(send)) && /\{\{name\/(?!none)[^}]*\}\}:/i.test(JSON.stringify(send));

/** The names that a row is sent with: at full size each of them, else one, others from row to row. */
function namesOf(row: number, send: unknown): readonly string[] {
  // As it is spelled this one passes.
  const passed = isOdd(send) ? ['X-Auth-Token'] : [];
  return [...(isLong ? names : [names[row % names.length]!]), ...passed];
}

for (const as of ['session', 'nobody'] as const)
  t.test(
    `a client claims nothing beside fixed headers, UTF-8, a stripped prefix and names that pass: ${as}`,
    async (t) => {
      const bench = await startCorpusBench(t, config, settingsOf, added);
      for (const [index, row] of readCorpus('spoofs').entries())
        await t.test(row.name, async (t) => {
          const expected = expectedRow(row);
          for (const name of namesOf(index, row.send))
            await judge(t, bench, { ...expected, as }, { values: { ...values.get(name), ...callers[as] } });
        });
    },
  );
