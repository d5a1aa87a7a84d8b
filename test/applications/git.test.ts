import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { startApplication } from './application.ts';
import { fromDebian } from './installed.ts';
import { runProgram } from './programs.ts';

t.setTimeout(300_000);

t.test('git clones and pushes by URL, by credential helper and by header', async (t) => {
  let repository = '';
  const application = await startApplication(t, {
    recipe: 'git over HTTP',
    needs: [fromDebian('git')],
    readyPath: '/none',
    command({ folder, port }) {
      const repositories = join(folder, 'repositories');
      repository = join(repositories, 'tool.git');
      mkdirSync(repository, { recursive: true });
      const script = join(import.meta.dirname, 'programs/git-http-backend.mjs');
      return [process.execPath, script, `${port}`, repositories];
    },
  });
  if (application === null) return;
  const { origin, key, run, clients, mintKey } = application;
  const own = (...args: string[]) => runProgram(['git', ...args], { folder: repository });
  t.match(await own('init', '--bare', '--initial-branch=main', '.'), { code: 0 });
  t.match(await own('config', 'http.receivepack', 'true'), { code: 0 });

  const env = {
    GIT_TERMINAL_PROMPT: '0',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: 'Ada',
    GIT_AUTHOR_EMAIL: 'ada@example.com',
    GIT_COMMITTER_NAME: 'Ada',
    GIT_COMMITTER_EMAIL: 'ada@example.com',
  };
  const git = (...args: string[]) => run(['git', ...args], { env });
  const succeed = async (...args: string[]) => {
    const { code, printed } = await git(...args);
    t.equal(code, 0, `git ${args[0]}: ${printed}`);
  };
  const withUser = (password: string) => `${origin.replace('//', `//any:${password}@`)}/tool.git`;

  t.match(await git('clone', `${origin}/tool.git`, 'none'), {
    code: 128,
    printed: /could not read Username/,
  });
  t.match(await git('clone', withUser('guessed'), 'none'), { code: 128, printed: /Authentication failed/ });
  await succeed('clone', withUser(key), 'first');
  writeFileSync(join(clients, 'first/large'), 'x'.repeat(3_000_000));
  await succeed('-C', 'first', 'add', 'large');
  await succeed('-C', 'first', 'commit', '-m', 'one');
  await succeed('-C', 'first', 'push', 'origin', 'HEAD:main');

  writeFileSync(join(clients, 'credentials'), `${origin.replace('//', `//any:${key}@`)}\n`, { mode: 0o600 });
  const helper = ['-c', `credential.helper=store --file ${join(clients, 'credentials')}`];
  await succeed(...helper, 'clone', `${origin}/tool.git`, 'second');
  t.equal(readFileSync(join(clients, 'second/large'), 'utf8').length, 3_000_000);

  const reader = await mintKey(['code:read']);
  await succeed('-C', 'second', 'commit', '--allow-empty', '-m', 'two');
  t.match(await git('-C', 'second', 'push', withUser(reader)), { code: /[1-9]/, printed: /403/ });
  await succeed('-c', `http.extraHeader=X-API-Key: ${key}`, 'clone', `${origin}/tool.git`, 'third');
  await succeed('-C', 'third', 'log', '--oneline');
});
