import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { compiled, fromNpm, fromPyPI } from './installed.ts';
import { startProvided } from './signing-in.ts';

t.setTimeout(300_000);

const zoe = {
  sub: '1',
  preferred_username: 'zoe',
  name: 'Zoë Müller, 100%',
  email: 'zoe@example.com',
  email_verified: true,
  groups: ['staff', 'Zürich, west'],
};
const bob = {
  ...zoe,
  sub: '2',
  preferred_username: 'bob',
  name: 'Bob',
  email: 'bob@example.com',
  groups: [],
};
const programs = join(import.meta.dirname, 'programs');

t.test('Django: name, address and groups, which decide what a person may see', async (t) => {
  const application = await startProvided(t, {
    recipe: 'Names and groups of a provider',
    needs: [fromPyPI('django-admin')],
    readyPath: '/admin/',
    command: ({ port }) => [fromPyPI('python'), join(programs, 'django_people.py'), `${port}`],
  });
  if (application === null) return;
  const open = await application.signIn(zoe);
  const site = await (await open('/admin/')).text();
  t.match(site, /Zoë Müller, 100%/);
  t.match(site, /\/admin\/auth\/user\//, 'a permission of the group');
  t.match(site, /\/admin\/auth\/group\//, 'one whose name has a comma');
  const list = await (await open('/admin/auth/user/')).text();
  t.match(list, /zoe@example\.com/);
  const openAsBob = await application.signIn(bob);
  t.equal((await openAsBob('/admin/')).status, 302, 'nobody of the staff: Django’s own sign-in');
  const moved = await application.signIn({ ...zoe, groups: [] });
  t.equal((await moved('/admin/')).status, 302, 'no longer, since the last sign-in');
});

t.test('TiddlyWiki: the name under which people write, and who may', async (t) => {
  const tiddlywiki = fromNpm('tiddlywiki');
  const application = await startProvided(t, {
    recipe: 'Names and groups of a provider',
    needs: [tiddlywiki],
    readyPath: '/status',
    command({ folder, port }) {
      const plugins = ['tiddlywiki/tiddlyweb', 'tiddlywiki/filesystem'];
      writeFileSync(join(folder, 'tiddlywiki.info'), JSON.stringify({ plugins, themes: [] }));
      const who = [
        'authenticated-user-header=x-authenticated-user',
        'readers=(authenticated)',
        'writers=Zoë Müller',
      ];
      return [tiddlywiki, folder, '--listen', `port=${port}`, ...who];
    },
  });
  if (application === null) return;
  const { signIn } = application;
  const write = (open: Awaited<ReturnType<typeof signIn>>) =>
    open('/recipes/default/tiddlers/Note', {
      method: 'PUT',
      headers: {
        'X-Requested-With': 'TiddlyWiki',
        'Content-Type': 'application/json',
        Origin: application.origin,
      },
      body: JSON.stringify({ title: 'Note', text: 'written' }),
    });
  const long = await signIn(zoe);
  t.match(await (await long('/status')).json(), { username: zoe.name, read_only: true });
  t.equal((await write(long)).status, 401);
  const open = await signIn({ ...zoe, name: 'Zoë Müller' });
  t.match(await (await open('/status')).json(), { username: 'Zoë Müller', read_only: false });
  t.equal((await write(open)).status, 204);
  t.match(await (await long('/recipes/default/tiddlers/Note')).json(), { text: 'written' });
});

t.test('Gitea: an account with full name and address', async (t) => {
  const gitea = compiled('gitea');
  const application = await startProvided(t, {
    recipe: 'Names and groups of a provider',
    needs: [gitea],
    readyPath: '/api/healthz',
    env: () => ({ USER: 'root', GITEA_I_AM_BEING_UNSAFE_RUNNING_AS_ROOT: 'true' }),
    command({ folder, port, origin }) {
      const file = join(folder, 'app.ini');
      writeFileSync(file, settingsOfGitea(folder, port, origin));
      return [gitea, 'web', '--config', file];
    },
  });
  if (application === null) return;
  const open = await application.signIn(zoe);
  t.match(await (await open('/api/v1/user')).json(), {
    login: 'zoe',
    full_name: zoe.name,
    email: zoe.email,
  });
  const openAsBob = await application.signIn(bob);
  t.match(await (await openAsBob('/api/v1/user')).json(), { login: 'bob', full_name: 'Bob' });
});

const settingsOfGitea = (folder: string, port: number, origin: string) => `WORK_PATH = ${folder}
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
REVERSE_PROXY_AUTHENTICATION_USER = Remote-User
REVERSE_PROXY_AUTHENTICATION_EMAIL = Remote-Email
REVERSE_PROXY_AUTHENTICATION_FULL_NAME = Remote-Name
[service]
ENABLE_REVERSE_PROXY_AUTHENTICATION = true
ENABLE_REVERSE_PROXY_AUTHENTICATION_API = true
ENABLE_REVERSE_PROXY_AUTO_REGISTRATION = true
ENABLE_REVERSE_PROXY_EMAIL = true
ENABLE_REVERSE_PROXY_FULL_NAME = true
`;
