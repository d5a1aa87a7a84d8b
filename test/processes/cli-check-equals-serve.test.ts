import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Terminal } from '../../src/cli/command.ts';
import { run } from '../../src/cli/run.ts';
import { wrongHosts } from '../support/corpora/wrong-hosts.ts';
import { wrongRelations } from '../support/corpora/wrong-relations.ts';
import { wrongValues } from '../support/corpora/wrong-values.ts';
import { makeCertificate } from '../support/servers/certificates.ts';

const rows = [...wrongValues, ...wrongRelations, ...wrongHosts];

const folder = t.testdir({ folder: {} });
const notes =
  'neither PEM nor a database, and longer than the hundred bytes that the header of a database has, at least';
writeFileSync(join(folder, 'notes.txt'), notes);
for (const label of ['first', 'second']) makeCertificate(folder, label, ['DNS:localhost']);

function completed(sections: string): string {
  const parts = [sections];
  if (!sections.includes('tenant')) parts.push('tenant: acme\nbase_url: https://acme.example.com');
  if (!/upstream|#routes/.test(sections)) parts.push('upstreams: { app: { url: builtin:echo } }');
  if (!sections.includes('routes')) parts.push('routes: [{ prefix: /, upstream: app }]');
  return `${parts.join('\n')}\n`;
}

/** Runs a command in this process, as the program would. */
async function outcomeOf(command: string, file: string) {
  let stderr = '';
  const written = (_text: string, done?: () => void) => {
    done?.();
    return true;
  };
  const terminal = {
    env: { WORD: 'many' },
    cwd: process.cwd,
    stdout: { write: written, once() {}, off() {} },
    stderr: {
      write(text: string) {
        stderr += text;
        return true;
      },
    },
    on() {},
    exit() {},
  };
  const code = await run([command, '--config', file], terminal as unknown as Terminal);
  return { code, stderr };
}

t.test(`check and serve say the same of ${rows.length} wrong configurations`, async (t) => {
  t.ok(rows.length >= 60);
  for (const [sentence, sections, ...lines] of rows)
    await t.test(sentence, async (t) => {
      const file = join(folder, 'postern.yaml');
      writeFileSync(file, completed(sections));
      const text = lines.map((line) => `${file}:${line.replaceAll('FOLDER', folder)}\n`).join('');
      t.strictSame(await outcomeOf('check', file), { code: 2, stderr: text });
      t.strictSame(await outcomeOf('serve', file), { code: 2, stderr: text });
    });
});

t.test('the same file without the mistake has no problem', async (t) => {
  const file = join(folder, 'postern.yaml');
  writeFileSync(file, completed('listen: { tls: { cert: first.crt, key: first.key } }'));
  t.strictSame(await outcomeOf('check', file), { code: 0, stderr: '' });
});
