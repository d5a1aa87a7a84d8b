import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  lchownSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readFoundFile } from '../../src/cli/found-file.ts';
import { eventually } from '../support/eventually.ts';
import { runPostern, startPostern, untilListening } from '../support/gateway/command.ts';
import type { TestScope } from '../support/gateway/gateway.ts';
import { makeTemporaryFolder } from '../support/temporary-folder.ts';

const env = { POSTERN_CONFIG: '' };
const nobody = 65_534;
const asRoot = { skip: process.getuid?.() !== 0 && 'only root can give files to another user' };

function emptyFolder(t: TestScope): string {
  const folder = makeTemporaryFolder('postern-found-');
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A folder with a configuration that names a secret file, at that path. */
function folderWith(t: TestScope, name: string): { readonly cwd: string; readonly file: string } {
  const cwd = emptyFolder(t);
  const file = join(cwd, name);
  mkdirSync(join(file, '..'), { recursive: true, mode: 0o755 });
  writeFileSync(join(cwd, 'secret'), 'hunter2\n');
  writeFileSync(file, `tenant: { file: ${join(cwd, 'secret')} }\nnonsense: 1\n`);
  chmodSync(file, 0o644);
  return { cwd, file };
}

async function refusal(cwd: string, args: readonly string[] = ['user', 'list']) {
  const { code, stdout, stderr } = await runPostern(args, { cwd, env });
  return { code, stdout, stderr };
}

const trusting = 'name it with --config if you trust it\n';
const ofOthers = (cause: string) => ({
  code: 2,
  stdout: '',
  stderr: `postern: ./postern.yaml ${cause}: ${trusting}`,
});

t.test('a found postern.yaml of another user is refused, and a named one is read', asRoot, async (t) => {
  const { cwd, file } = folderWith(t, 'postern.yaml');
  t.match(
    await refusal(cwd),
    { code: 2, stderr: /^postern\.yaml:.*: nonsense: /m },
    "the user's own is read",
  );
  chownSync(file, nobody, nobody);
  for (const args of [['user', 'list'], ['check'], ['serve']])
    t.strictSame(await refusal(cwd, args), ofOthers('belongs to another user'), args.join(' '));
  t.match(await refusal(cwd, ['check', '--config', 'postern.yaml']), { stderr: /nonsense/ });
  t.match(await runPostern(['check'], { cwd, env: { POSTERN_CONFIG: 'postern.yaml' } }), {
    stderr: /nonsense/,
  });

  rmSync(file);
  symlinkSync('/etc/hostname', file);
  lchownSync(file, nobody, nobody);
  t.strictSame(await refusal(cwd), ofOthers('belongs to another user'), 'a link of theirs to what is ours');
});

t.test(
  'a found postern.yaml that others can write, or that is no file of a sensible size, is refused',
  async (t) => {
    const { cwd, file } = folderWith(t, 'postern.yaml');
    for (const mode of [0o664, 0o646]) {
      chmodSync(file, mode);
      t.strictSame(await refusal(cwd), ofOthers('can be changed by other users (chmod go-w ends that)'));
    }
    chmodSync(file, 0o644);
    writeFileSync(file, '#'.repeat(1024 * 1024));
    t.match(await refusal(cwd), { code: 2, stderr: /^postern\.yaml:/ });
    writeFileSync(file, '#'.repeat(1024 * 1024 + 1));
    t.strictSame(await refusal(cwd), ofOthers('is larger than 1 MiB'));
    const instead = {
      pipe: () => execFileSync('mkfifo', [file]),
      zeros: () => symlinkSync('/dev/zero', file),
      folder: () => mkdirSync(file),
    };
    for (const [name, make] of Object.entries(instead)) {
      rmSync(file, { recursive: true });
      make();
      t.strictSame(await refusal(cwd), ofOthers('is not a regular file'), name);
    }
  },
);

t.test('a found trial, and its folder, must be the own, too', asRoot, async (t) => {
  const { cwd, file } = folderWith(t, 'data/trial.yaml');
  const data = join(cwd, 'data');
  t.match(await refusal(cwd), { stderr: /nonsense/ });
  chownSync(data, nobody, nobody);
  const naming = 'name ./data/trial.yaml with --config if you trust it\n';
  t.match(await refusal(cwd), { code: 2, stderr: `postern: ./data belongs to another user: ${naming}` });
  t.match(await refusal(cwd, ['init', '--upstream', ':9000']), {
    code: 2,
    stderr: 'postern: ./data belongs to another user: run init in another folder\n',
  });
  chownSync(data, 0, 0);
  chmodSync(data, 0o777);
  t.match(await refusal(cwd), { code: 2, stderr: /^postern: \.\/data can be changed by other users \(/ });
  chmodSync(data, 0o755);
  chownSync(file, nobody, nobody);
  t.match(await refusal(cwd), {
    code: 2,
    stderr: `postern: ./data/trial.yaml belongs to another user: ${trusting}`,
  });

  const installed = emptyFolder(t);
  chownSync(data, nobody, nobody);
  symlinkSync(data, join(installed, 'data'));
  const read = readFoundFile(installed, 'data/trial.yaml', { euid: nobody });
  t.ok(
    read?.includes('nonsense'),
    "root's link to the folder of the user that serves, as getting-started.md has it",
  );
});

t.test('init takes nothing from elsewhere into a configuration', async (t) => {
  const { cwd, file } = folderWith(t, 'data/trial.yaml');
  const trial = (title: string) =>
    writeFileSync(
      file,
      `base_url: http://127.0.0.1:8765
management: { port: 9876 }
upstreams: { app: { url: "http://127.0.0.1:4321" } }
web: { title: ${title} }
`,
    );
  for (const title of ['{ file: ../secret }', '{ env: SECRET }', '"\\e[2J"', '&a [*a]']) {
    trial(title);
    t.match(await refusal(cwd, ['init']), { code: 2, stderr: /^postern: init needs --upstream/ }, title);
  }
  trial('Stock');
  t.match(await refusal(cwd, ['init']), { code: 0 });
  const written = readFileSync(join(cwd, 'postern.yaml'), 'utf8');
  for (const value of ['127.0.0.1:8765', 'port: 9876', '127.0.0.1:4321', 'title: Stock'])
    t.match(written, value);
});

t.test(
  'a running gateway keeps its configuration when the found file is gone, or not to be trusted',
  async (t) => {
    const cwd = emptyFolder(t);
    await runPostern(['init', '--upstream', 'builtin:echo', '--listen', ':0'], { cwd, env });
    const file = join(cwd, 'postern.yaml');
    const text = readFileSync(file, 'utf8').replace(/^management: .*$/m, 'management: { port: 0 }');
    writeFileSync(file, text);
    const { printed, child, api } = await untilListening(t, startPostern(['serve'], { cwd, env }));
    const says = (sentence: string) => eventually(sentence, () => printed().stdout.includes(sentence));
    chmodSync(file, 0o666);
    child.kill('SIGHUP');
    await says('can be changed by other users');
    rmSync(file);
    child.kill('SIGHUP');
    await says('no configuration');
    t.match(await api.send({ path: '/' }), { status: 401 }, 'it serves');
  },
);
