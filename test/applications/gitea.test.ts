import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { administrator } from '../support/gateway/gateway.ts';
import { type RunningApplication, startApplication } from './application.ts';
import { browse } from './browsing.ts';
import { compiled, fromDebian } from './installed.ts';

t.setTimeout(300_000);

const { username } = administrator;
const gitea = compiled('gitea');
const env = { USER: 'root', GITEA_I_AM_BEING_UNSAFE_RUNNING_AS_ROOT: 'true' };

/** Gitea's settings, the recipe's among them. */
const settings = (folder: string, port: number, origin: string) => `WORK_PATH = ${folder}
RUN_MODE = prod
[server]
HTTP_ADDR = 127.0.0.1
HTTP_PORT = ${port}
ROOT_URL = ${origin}/
DISABLE_SSH = true
OFFLINE_MODE = true
[database]
DB_TYPE = sqlite3
[security]
INSTALL_LOCK = true
REVERSE_PROXY_TRUSTED_PROXIES = 127.0.0.1/32
[service]
ENABLE_REVERSE_PROXY_AUTHENTICATION = true
ENABLE_REVERSE_PROXY_AUTHENTICATION_API = true
ENABLE_REVERSE_PROXY_AUTO_REGISTRATION = true
ENABLE_REVERSE_PROXY_EMAIL = true
ENABLE_REVERSE_PROXY_FULL_NAME = true
`;

type Headers = Readonly<Record<string, string>>;

/** Calls Gitea's API with a key of Postern's, and what else is given. */
function apiOf({ origin, key }: RunningApplication) {
  return async (path: string, headers: Headers = {}, json?: object) => {
    const response = await fetch(`${origin}/api/v1${path}`, {
      headers: { 'X-API-Key': key, 'Content-Type': 'application/json', ...headers },
      ...(json === undefined ? {} : { method: 'POST', body: JSON.stringify(json) }),
    });
    return { status: response.status, json: (await response.json()) as Record<string, any> };
  };
}

/** A person gets an account, and makes a repository by its form. */
async function judgePeople(t: Test, application: RunningApplication): Promise<void> {
  const browsing = await browse(t, application, '/repo/create');
  if (browsing === null) return;
  const { page, fetched, signOut } = browsing;
  await page.fill('[name=repo_name]', 'by-form');
  await page.locator('form button', { hasText: 'Create Repository' }).click();
  await page.waitForURL(`${application.origin}/${username}/by-form`);
  t.equal((await fetched('/user/settings')).status, 200);
  await signOut();
  t.equal((await fetched('/user/settings')).status, 401);
}

/** git clones and pushes with a key as password, once Basic has been offered to it. */
async function judgeGit(t: Test, { origin, key, run, clients }: RunningApplication): Promise<void> {
  const gitEnv = { GIT_TERMINAL_PROMPT: '0', GIT_CONFIG_NOSYSTEM: '1' };
  const git = async (...args: string[]) => {
    const { code, printed } = await run(['git', ...args], { env: gitEnv });
    t.equal(code, 0, `git ${args.join(' ')}: ${printed}`);
  };
  const url = `${origin.replace('//', `//any:${key}@`)}/${username}/tool.git`;
  const author = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com'];
  await git('clone', url, 'tool');
  writeFileSync(join(clients, 'tool/C# x.txt'), 'sharp');
  writeFileSync(join(clients, 'tool/large'), Buffer.alloc(3_000_000, 'x'));
  await git('-C', 'tool', 'add', '.');
  await git('-C', 'tool', ...author, 'commit', '-m', 'one');
  await git('-C', 'tool', 'push', 'origin', 'HEAD', 'HEAD:feat/x');
}

/** What Gitea itself issued, in each of its three forms, beside a key: it counts, not the header. */
async function judgeOwnTokens(t: Test, application: RunningApplication): Promise<void> {
  const api = apiOf(application);
  const admin = async (...args: string[]) => {
    const { folder, run } = application;
    const command = [gitea, '--work-path', folder, 'admin', 'user', ...args] as const;
    const { code, printed } = await run(command, { folder, env });
    t.equal(code, 0, printed);
    return printed.trim().split('\n').at(-1)!;
  };
  const account = ['--username', 'zoe', '--password', 'of Gitea itself', '--must-change-password=false'];
  await admin('create', ...account, '--email', 'zoe@example.com');
  const scopes = ['--scopes', 'read:user', '--raw'];
  const token = await admin('generate-access-token', '-u', 'zoe', '-t', 'a program', ...scopes);
  const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
  for (const authorization of [
    `token ${token}`,
    `Bearer ${token}`,
    basic(`zoe:${token}`),
    basic('zoe:of Gitea itself'),
  ])
    t.match((await api('/user', { authorization })).json, { login: 'zoe' }, authorization.split(' ')[0]!);
  // By its source, Gitea goes on to the header after what it doesn't know: the key's owner, and no one else.
  for (const authorization of ['token guessed', 'Bearer guessed', basic('zoe:guessed')])
    t.match((await api('/user', { authorization })).json, { login: username }, authorization);
  const alone = await fetch(`${application.origin}/api/v1/user`, {
    headers: { Authorization: `token ${token}` },
  });
  t.equal(alone.status, 401, 'its own alone does not pass');
}

t.test('Gitea: an account from the header, git with a key, its own tokens, C# x.txt', async (t) => {
  const application = await startApplication(t, {
    recipe: 'Gitea',
    needs: [gitea, fromDebian('git')],
    readyPath: '/api/healthz',
    command({ folder, port, origin }) {
      mkdirSync(join(folder, 'custom/conf'), { recursive: true });
      writeFileSync(join(folder, 'custom/conf/app.ini'), settings(folder, port, origin));
      return [gitea, '--work-path', folder, 'web'];
    },
    env: () => env,
  });
  if (application === null) return;
  const api = apiOf(application);
  t.match(await api('/user'), { status: 200, json: { login: username } });
  t.match(await api('/user/repos', {}, { name: 'tool', auto_init: true }), { status: 201 });
  await judgeGit(t, application);
  const repository = `/repos/${username}/tool`;
  const content = await api(`${repository}/contents/${encodeURIComponent('C# x.txt')}`);
  t.match(content, { status: 200, json: { name: 'C# x.txt', size: 5 } });
  const branch = await api(`${repository}/branches/feat%2Fx`);
  t.match(branch, { status: 200, json: { name: 'feat/x' } });
  await judgeOwnTokens(t, application);
  await judgePeople(t, application);
});
