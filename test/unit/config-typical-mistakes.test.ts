import t from 'tap';
import { loadConfigText } from '../../src/config/load.ts';
import { formatProblem } from '../../src/config/report/problems.ts';
import { typicalMistakes } from '../support/corpora/typical-mistakes.ts';

/** The sections, and what they lack. */
function completed(sections: string): string {
  const has = (key: string) => new RegExp(`^${key}:`, 'm').test(sections);
  return [
    sections,
    ...(has('tenant') ? [] : ['tenant: acme']),
    ...(has('base_url') ? [] : ['base_url: https://acme.example.com']),
    ...(has('upstreams') ? [] : ['upstreams: { app: { url: builtin:echo } }']),
    ...(has('routes') ? [] : ['routes: [{ prefix: /, upstream: app }]']),
    '',
  ].join('\n');
}

for (const [sentence, sections, ...lines] of typicalMistakes)
  t.test(sentence, async (t) => {
    const { problems, warnings = [] } = loadConfigText(completed(sections), '.', {});
    t.equal(problems, undefined);
    t.strictSame(
      warnings.map((warning) => formatProblem('f', warning, 'warning: ')),
      lines.map((line) => `f:${line}`),
    );
  });
