import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parse } from 'yaml';

// Where they run, nobody looks: what can be said of the workflows here is said here, and actionlint says more (test/clients).
interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly env?: object;
  readonly with?: Readonly<Record<string, unknown>>;
}
interface Job {
  readonly needs?: string | readonly string[];
  readonly permissions?: Readonly<Record<string, string>>;
  readonly env?: object;
  readonly outputs?: object;
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

/** Lines that hand values from job to job; by hand there is but one machine. */
const isBetweenJobs = (line: string) => line.endsWith('>>"$GITHUB_OUTPUT"') || line === comparison;
const comparison = 'test "$(find packages -type f -exec sha256sum {} + | sort | sha256sum)" = "$PACKAGES"';

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
    const commands = commandsOf(workflows.get('release.yml')!).filter((line) => !isBetweenJobs(line));
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

const release = workflows.get('release.yml')!;

t.test('a release takes files of another job only as that job made them', async (t) => {
  t.match(release.jobs.build!.outputs, { packages: /steps\.sums\.outputs\.packages/ });
  let taken = 0;
  for (const [name, { needs = [], steps = [] }] of Object.entries(release.jobs))
    for (const [index, { uses }] of steps.entries()) {
      if (!uses?.startsWith('actions/download-artifact@')) continue;
      taken++;
      t.ok([needs].flat().includes('build'), name);
      const env = { PACKAGES: /needs\.build\.outputs\.packages/ };
      t.match(steps[index + 1], { run: comparison, env }, `${name}: at once, before anything uses them`);
    }
  t.equal(taken, 4);
});

t.test('whatever a release runs is pinned, and sees no more than it needs', async (t) => {
  t.notMatch(
    texts.get('release.yml'),
    'setup-qemu-action',
    'nothing is emulated, which takes a privileged image',
  );
  for (const [name, { env = {}, permissions = {}, steps = [] }] of Object.entries(release.jobs)) {
    t.notMatch(JSON.stringify(env), /token|secrets/, `${name}: a token is for a step`);
    for (const { uses, with: inputs } of steps)
      if (uses?.startsWith('docker/setup-buildx-action@')) {
        t.match(inputs, { 'driver-opts': /^image=\S+@sha256:[0-9a-f]{64}$/ }, name);
        t.notOk('id-token' in permissions, `${name}: what builds can't sign`);
      }
  }
  t.match(release.jobs.image!.env, { SCANNER: /@sha256:[0-9a-f]{64}$/ });
  t.match(readFileSync('.ci/run', 'utf8'), /"node-linux-\$platform@\d+\.\d+\.\d+"/);
});
