import t from 'tap';
import { administrator } from '../support/gateway/gateway.ts';
import { requirePostgres } from '../support/stores/postgres-programs.ts';
import { startPostgres } from '../support/stores/postgres-server.ts';
import { startApplication } from './application.ts';
import { browse } from './browsing.ts';
import { compiled, requireInstalled } from './installed.ts';

t.setTimeout(300_000);

t.test('Miniflux: an account from the header, and its own token or password beside a key', async (t) => {
  if (!requireInstalled(t, [compiled('miniflux')]) || !requirePostgres(t)) return;
  const { url } = await startPostgres(t);
  const application = await startApplication(t, {
    recipe: 'Miniflux',
    needs: [compiled('miniflux')],
    readyPath: '/healthcheck',
    command: () => [compiled('miniflux')],
    env: ({ port, origin }) => ({
      DATABASE_URL: `${url}?sslmode=disable`,
      RUN_MIGRATIONS: '1',
      LISTEN_ADDR: `127.0.0.1:${port}`,
      BASE_URL: origin,
      AUTH_PROXY_HEADER: 'X-Forwarded-User',
      AUTH_PROXY_USER_CREATION: '1',
      TRUSTED_REVERSE_PROXY_NETWORKS: '127.0.0.1/32',
    }),
  });
  if (application === null) return;
  const { origin, key } = application;
  const browsing = await browse(t, application, '/');
  if (browsing === null) return;
  const { page } = browsing;
  await page.goto(`${origin}/keys/create`);
  await page.fill('[name=description]', 'a program');
  await page.click('form[action="/keys/save"] button[type=submit]');
  await page.waitForURL(`${origin}/keys`);
  const shown = await page.textContent('main');
  const token = /[\w-]{40,}={0,2}/.exec(shown!)![0];
  const me = (headers: Record<string, string>) => fetch(`${origin}/v1/me`, { headers });
  t.match(await (await me({ 'X-API-Key': key, 'X-Auth-Token': token })).json(), {
    username: administrator.username,
  });
  t.equal((await me({ 'X-API-Key': key, 'X-Auth-Token': 'guessed' })).status, 401, 'judged by Miniflux');
  t.equal((await me({ 'X-Auth-Token': token })).status, 401, 'its own alone does not pass');

  const password = 'of Miniflux itself';
  const changed = await fetch(`${origin}/v1/users/1`, {
    method: 'PUT',
    headers: { 'X-API-Key': key, 'X-Auth-Token': token, 'Content-Type': 'application/json' },
    body: JSON.stringify({ password }),
  });
  t.equal(changed.status, 201);
  const basic = (password: string) =>
    `Basic ${Buffer.from(`${administrator.username}:${password}`).toString('base64')}`;
  t.match(await (await me({ 'X-API-Key': key, Authorization: basic(password) })).json(), {
    username: administrator.username,
  });
  const guessed = await me({ 'X-API-Key': key, Authorization: basic('guessed') });
  t.equal(guessed.status, 401, 'judged by Miniflux');

  await browsing.signOut();
  t.equal((await browsing.fetched('/unread')).status, 401);
});
