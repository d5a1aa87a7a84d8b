import t from 'tap';
import { readCorpus } from '../support/corpus.ts';
import { startCorpusBench } from '../support/corpus-bench.ts';
import { judge } from '../support/corpus-judge.ts';
import { identityHeaders } from '../support/our-headers.ts';

/** Marks other than the hyphen that a name may hold (RFC 9110 §5.6.2), and more than a mark. */
const marks = [..."_.!#$%&'*+^`|~", '--', '-_'];

/** Spellings of a name: `{{Name}}`, `{{name/_}}` with underscores for hyphens, `{{NAME/./first}}` for the first alone. */
function spellingsOf(header: string): Record<string, string> {
  const cases = {
    Name: header,
    name: header.toLowerCase(),
    NAME: header.toUpperCase(),
    nAmE: [...header].map((c) => (c === c.toUpperCase() ? c.toLowerCase() : c.toUpperCase())).join(''),
  };
  const spellings: Record<string, string> = { ...cases };
  for (const [form, text] of Object.entries(cases)) {
    spellings[`${form}/none`] = text.replaceAll('-', '');
    for (const mark of marks) {
      const last = text.lastIndexOf('-');
      spellings[`${form}/${mark}`] = text.replaceAll('-', () => mark);
      spellings[`${form}/${mark}/first`] = text.replace('-', () => mark);
      spellings[`${form}/${mark}/last`] = last < 0 ? text : text.slice(0, last) + mark + text.slice(last + 1);
    }
  }
  return spellings;
}

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
        for (const header of as === 'key' ? identityHeaders : ofCaller)
          await judge(t, bench, { ...row, as }, { values: { ...spellingsOf(header), ...callers[as] } });
      });
  });
