import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parse } from 'yaml';

// Where they run, nobody looks: what can be said of the workflows here is said here, and actionlint says more (test/clients).
interface Step {
  readonly uses?: string;
  readonly run?: string;
}
interface Job {
  readonly permissions?: object;
  readonly steps?: readonly Step[];
}
interface Workflow {
  readonly permissions: object;
  readonly jobs: Readonly<Record<string, Job>>;
}

const folder = join(import.meta.dirname, '../../.github/workflows');
const texts = new Map(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
const workflows = new Map([...texts].map(([name, text]) => [name, parse(text) as Workflow]));
const commandsOf = ({ jobs }: Workflow) =>
  Object.values(jobs).flatMap(({ steps = [] }) =>
    steps.flatMap(({ run }) => (run === undefined ? [] : linesOf(run))),
  );

/** Lines without their indentation. */
function linesOf(text: string): string[] {
  return text.split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.trim()]));
}

t.test(
  'every command of a release is in RELEASING.md, in the same words, and no other is there',
  async (t) => {
    const document = readFileSync('RELEASING.md', 'utf8');
    const documented = [...document.matchAll(/^```sh\n(.*?)^```$/gms)].flatMap(([, block]) =>
      linesOf(block!),
    );
    const commands = commandsOf(workflows.get('release.yml')!);
    t.ok(commands.length > 15);
    t.strictSame([...new Set(commands)].sort(), [...new Set(documented)].sort());
  },
);

t.test('a change is judged by .ci/run, and so is a release', async (t) => {
  t.strictSame(commandsOf(workflows.get('ci.yml')!), ['.ci/run']);
  t.match(workflows.get('release.yml')!.jobs.test, { uses: './.github/workflows/ci.yml' });
});

for (const [name, { permissions, jobs }] of workflows)
  t.test(`${name}: nothing has rights that it doesn't name, or runs what can be replaced`, async (t) => {
    t.strictSame(permissions, {});
    for (const [job, { permissions: rights }] of Object.entries(jobs)) t.ok(rights, job);
    for (const [line, action] of texts.get(name)!.matchAll(/\buses: (\S+).*$/gm))
      if (!action!.startsWith('./')) t.match(line, /@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });
