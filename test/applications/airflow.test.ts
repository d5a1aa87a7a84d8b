import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { startApplication } from './application.ts';
import { browse } from './browsing.ts';
import { fromPyPILater } from './installed.ts';

t.setTimeout(600_000);

t.test('Airflow: its REST API takes its own JWT beside a key, and beside the web cookie', async (t) => {
  const airflow = fromPyPILater('airflow', 'airflow');
  const application = await startApplication(t, {
    recipe: 'Airflow',
    needs: [airflow],
    readyPath: '/api/v2/monitor/health',
    readyMilliseconds: 240_000,
    env: ({ folder }) => ({ AIRFLOW_HOME: folder, AIRFLOW__CORE__LOAD_EXAMPLES: 'False' }),
    command: ({ port }) => [
      ...(['sh', '-c', '"$0" db migrate && exec "$0" api-server --host 127.0.0.1 --port "$1"'] as const),
      ...[airflow, `${port}`],
    ],
  });
  if (application === null) return;
  const { origin, key, folder } = application;
  const passwords = readFileSync(join(folder, 'simple_auth_manager_passwords.json.generated'), 'utf8');
  const { admin: password } = JSON.parse(passwords) as { admin: string };
  const keyHeader = { 'X-API-Key': key };
  const json = { 'Content-Type': 'application/json' };
  const signedIn = await fetch(`${origin}/auth/token`, {
    method: 'POST',
    headers: { ...keyHeader, ...json },
    body: JSON.stringify({ username: 'admin', password }),
  });
  t.equal(signedIn.status, 201);
  const { access_token: token } = (await signedIn.json()) as { access_token: string };
  const own = { Authorization: `Bearer ${token}` };
  const both = { ...keyHeader, ...own };
  const pools = (headers: Record<string, string>) => fetch(`${origin}/api/v2/pools`, { headers });
  const created = await fetch(`${origin}/api/v2/pools`, {
    method: 'POST',
    headers: { ...both, ...json },
    body: JSON.stringify({ name: 'tea', slots: 3 }),
  });
  t.equal(created.status, 201);
  t.match(await (await pools(both)).json(), { total_entries: 2 });
  t.match(
    await (await pools(keyHeader)).json(),
    { detail: 'Not authenticated' },
    'the key alone is not Airflow’s',
  );
  const alone = await pools(own);
  t.equal(alone.status, 401);
  t.equal(alone.headers.get('www-authenticate'), 'Bearer realm="apps"', 'its own alone does not pass');

  const browsing = await browse(t, application, '/');
  if (browsing === null) return;
  const { page, fetched, signOut } = browsing;
  await page.fill('[name=username]', 'admin');
  await page.fill('[name=password]', password);
  await Promise.all([page.waitForResponse(`${origin}/ui/auth/me`), page.click('button[type=submit]')]);
  await page.goto(`${origin}/pools`);
  await page.locator('text=tea').first().waitFor();
  t.equal((await fetched('/api/v2/pools')).status, 200, 'by its cookie');
  const status = await page.evaluate<number>(
    `fetch('/api/v2/pools', { headers: ${JSON.stringify(own)} }).then(({ status }) => status)`,
  );
  t.equal(status, 200, 'by its JWT, beside the web cookie');
  await signOut();
  t.equal((await fetched('/api/v2/pools')).status, 401, 'and its own cookie alone is nothing');
});
