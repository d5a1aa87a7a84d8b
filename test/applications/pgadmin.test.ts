import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { administrator } from '../support/gateway/gateway.ts';
import { startApplication } from './application.ts';
import { browse } from './browsing.ts';
import { fromPyPILater } from './installed.ts';

t.setTimeout(600_000);

const secret = 'of pgAdmin itself';

t.test('pgAdmin: an account from the header, believed because of the secret beside it', async (t) => {
  const application = await startApplication(t, {
    recipe: 'pgAdmin',
    needs: [fromPyPILater('pgadmin', 'pgadmin4')],
    readyPath: '/misc/ping',
    readyMilliseconds: 240_000,
    secret,
    env: ({ folder }) => ({
      PYTHONPATH: folder,
      PGADMIN_SETUP_EMAIL: 'setup@example.com',
      PGADMIN_SETUP_PASSWORD: 'a password that no one has',
    }),
    command({ folder, port }) {
      const settings = {
        DATA_DIR: folder,
        LOG_FILE: join(folder, 'pgadmin.log'),
        DEFAULT_SERVER_PORT: port,
        AUTHENTICATION_SOURCES: ['webserver'],
        WEBSERVER_REMOTE_USER: 'X-Forwarded-User',
        WEBSERVER_TRUSTED_PROXIES: ['127.0.0.1'],
        WEBSERVER_SHARED_SECRET: secret,
      };
      const lines = Object.entries(settings).map(([name, value]) => `${name} = ${JSON.stringify(value)}`);
      const flags = 'SERVER_MODE = True\nWEBSERVER_REMOTE_USER_FROM_HEADER = True\n';
      writeFileSync(join(folder, 'config_local.py'), `${lines.join('\n')}\n${flags}`);
      return [fromPyPILater('pgadmin', 'pgadmin4')];
    },
  });
  if (application === null) return;
  const { port } = application;
  const entered = async (headers: Record<string, string>) => {
    const response = await fetch(`http://127.0.0.1:${port}/login`, { headers, redirect: 'manual' });
    return response.status === 302 && response.headers.get('location') === '/browser/';
  };
  const named = { 'X-Forwarded-User': 'zoe' };
  t.notOk(await entered(named), 'anything else on the machine is not believed');
  t.notOk(await entered({ ...named, 'X-Pgadmin-Webserver-Secret': 'guessed' }));
  t.ok(await entered({ ...named, 'X-Pgadmin-Webserver-Secret': secret }));

  const browsing = await browse(t, application, '/');
  if (browsing === null) return;
  const { page, fetched, signOut } = browsing;
  await page.locator(`text=${administrator.username}`).first().waitFor();
  await signOut();
  t.equal((await fetched('/browser/')).status, 401);
});
