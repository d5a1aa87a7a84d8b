import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { administrator } from '../support/gateway/gateway.ts';
import { startApplication } from './application.ts';
import { compiled } from './installed.ts';

t.setTimeout(300_000);

t.test('Gitea: an account from the header, git with a key, its own tokens, C# x.txt', async (t) => {
  const application = await startApplication(t, {
    recipe: 'Gitea',
    needs: [compiled('gitea')],
    readyPath: '/api/healthz',
    command({ folder, port, origin }) {
      mkdirSync(join(folder, 'custom/conf'), { recursive: true });
      const settings = `WORK_PATH = ${folder}
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
      writeFileSync(join(folder, 'custom/conf/app.ini'), settings);
      return [compiled('gitea'), '--work-path', folder, 'web'];
    },
    env: ({ folder }) => ({
      USER: 'root',
      GITEA_I_AM_BEING_UNSAFE_RUNNING_AS_ROOT: 'true',
      GITEA_WORK_DIR: folder,
    }),
  });
  if (application === null) return;
  const { origin, key, run, folder, clients } = application;
  const api = (
    path: string,
    init: { method?: string; body?: object; headers?: Record<string, string> } = {},
  ) =>
    fetch(`${origin}/api/v1${path}`, {
      method: init.method ?? 'GET',
      headers: { 'X-API-Key': key, 'Content-Type': 'application/json', ...init.headers },
      ...(init.body === undefined ? {} : { body: JSON.stringify(init.body) }),
    });
  t.match(await (await api('/user')).json(), { login: administrator.username });
  t.equal(
    (await api('/user/repos', { method: 'POST', body: { name: 'tool', auto_init: true } })).status,
    201,
  );

  const url = `${origin.replace('//', `//any:${key}@`)}/${administrator.username}/tool.git`;
  const git = (...args: string[]) => run(['git', ...args], { env: { GIT_TERMINAL_PROMPT: '0' } });
  t.match(await git('clone', url, 'tool'), { code: 0 });
  writeFileSync(join(clients, 'tool/C# x.txt'), 'sharp');
  t.match(await git('-C', 'tool', 'add', '.'), { code: 0 });
  const author = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com'];
  t.match(await git('-C', 'tool', ...author, 'commit', '-m', 'one'), { code: 0 });
  t.match(await git('-C', 'tool', 'push'), { code: 0 });
  const content = await api(
    `/repos/${administrator.username}/tool/contents/${encodeURIComponent('C# x.txt')}`,
  );
  t.match(await content.json(), { name: 'C# x.txt' });

  const made = await run(
    [
      ...([compiled('gitea'), '--work-path', folder, 'admin', 'user', 'generate-access-token'] as const),
      ...['-u', administrator.username, '-t', 'a program', '--scopes', 'read:user', '--raw'],
    ],
    { folder, env: { USER: 'root', GITEA_I_AM_BEING_UNSAFE_RUNNING_AS_ROOT: 'true' } },
  );
  const token = made.printed.trim().split('\n').at(-1)!;
  const own = await api('/user', { headers: { Authorization: `token ${token}` } });
  t.match(await own.json(), { login: administrator.username });
  t.equal(
    (await api('/user', { headers: { Authorization: 'token guessed' } })).status,
    401,
    'judged by Gitea',
  );
});
