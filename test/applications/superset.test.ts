import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { administrator } from '../support/gateway/gateway.ts';
import { startApplication } from './application.ts';
import { browse } from './browsing.ts';
import { fromPyPILater } from './installed.ts';

t.setTimeout(900_000);

/** The configuration, as the recipe has it. */
const settings = `
from superset.security import SupersetSecurityManager

class Manager(SupersetSecurityManager):
    register_superset_auth_view = False

CUSTOM_SECURITY_MANAGER = Manager
AUTH_TYPE = 3
AUTH_REMOTE_USER_ENV_VAR = "HTTP_REMOTE_USER"
AUTH_API_LOGIN_ALLOW_MULTIPLE_PROVIDERS = True
AUTH_USER_REGISTRATION = True
AUTH_USER_REGISTRATION_ROLE = "Gamma"
SECRET_KEY = "a secret of the application that is long enough"
TALISMAN_ENABLED = False
`;

const account = { username: 'robot', password: 'another secret altogether' };

/** Superset's database is made first, with an account for programs. */
const start = `set -e
"$0" db upgrade
"$0" fab create-admin --username ${account.username} --firstname a --lastname b \\
  --email robot@example.com --password '${account.password}'
"$0" init
exec "$0" run --host 127.0.0.1 --port "$1"`;

t.test('Superset: accounts from a header, and its REST API by its own JWT beside a key', async (t) => {
  const superset = fromPyPILater('superset', 'superset');
  const application = await startApplication(t, {
    recipe: 'Superset',
    needs: [superset],
    readyPath: '/health',
    readyMilliseconds: 600_000,
    env: ({ folder }) => ({
      FLASK_APP: 'superset',
      SUPERSET_HOME: folder,
      SUPERSET_CONFIG_PATH: join(folder, 'superset_config.py'),
    }),
    command({ folder, port }) {
      writeFileSync(join(folder, 'superset_config.py'), settings);
      return ['sh', '-c', start, superset, `${port}`];
    },
  });
  if (application === null) return;
  const { origin, key } = application;
  const keyHeader = { 'X-API-Key': key };
  const signedIn = await fetch(`${origin}/api/v1/security/login`, {
    method: 'POST',
    headers: { ...keyHeader, 'Content-Type': 'application/json' },
    body: JSON.stringify({ ...account, provider: 'db' }),
  });
  t.equal(signedIn.status, 200);
  const { access_token: token } = (await signedIn.json()) as { access_token: string };
  const own = { Authorization: `Bearer ${token}` };
  const me = (headers: Record<string, string>) => fetch(`${origin}/api/v1/me/`, { headers });
  t.match(await (await me({ ...keyHeader, ...own })).json(), { result: { username: account.username } });
  t.equal((await me(keyHeader)).status, 401, 'the key alone is not Superset’s');
  const alone = await me(own);
  t.equal(alone.status, 401);
  t.equal(alone.headers.get('www-authenticate'), 'Bearer realm="apps"', 'its own alone does not pass');

  const browsing = await browse(t, application, '/');
  if (browsing === null) return;
  const { page, fetched, signOut } = browsing;
  await page.waitForURL(`${origin}/superset/welcome/`);
  t.match(JSON.parse((await fetched('/api/v1/me/')).text), { result: { username: administrator.username } });
  const named = await page.evaluate<string>(
    `fetch('/api/v1/me/', { headers: ${JSON.stringify(own)}, redirect: 'manual' }).then((r) => r.status)`,
  );
  t.equal(named, 200, 'by its JWT, beside the web cookie');
  await signOut();
  t.equal((await fetched('/api/v1/me/')).status, 401);
});
