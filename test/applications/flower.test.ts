import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { ApplicationKind } from './application.ts';
import { startApplication } from './application.ts';
import { browse } from './browsing.ts';
import { fromPyPI } from './installed.ts';

t.setTimeout(300_000);

const own = { username: 'zoe', password: 'of Flower itself' };

const flower: ApplicationKind = {
  recipe: 'Flower',
  needs: [fromPyPI('celery')],
  secret: `Basic ${Buffer.from(`${own.username}:${own.password}`).toString('base64')}`,
  command({ folder, port }) {
    const lines = [`from celery import Celery`, `app = Celery("tasks", broker="memory://")`];
    writeFileSync(join(folder, 'tasks.py'), `${lines.join('\n')}\n`);
    return [
      ...([fromPyPI('celery'), '-A', 'tasks', 'flower', '--address=127.0.0.1'] as const),
      ...[`--port=${port}`, `--basic-auth=${own.username}:${own.password}`],
    ];
  },
};

t.test('Flower with a password of its own, which no one has to know', async (t) => {
  const application = await startApplication(t, flower);
  if (application === null) return;
  const { origin, key, port } = application;
  t.equal((await fetch(`http://127.0.0.1:${port}/`)).status, 401, 'it wants its password');
  const byKey = await fetch(`${origin}/`, { headers: { 'X-API-Key': key } });
  t.equal(byKey.status, 200);
  const browsing = await browse(t, application, '/');
  if (browsing === null) return;
  await browsing.page.locator('.navbar').first().waitFor();
  t.match(await browsing.page.title(), /Flower/);

  const { page } = browsing;
  // A password that the browser keeps for this origin is refused once, and leads in no circle.
  await page.setExtraHTTPHeaders({ Authorization: `Basic ${Buffer.from('zoe:guessed').toString('base64')}` });
  const refused = await page.goto(`${origin}/workers`);
  t.equal(refused!.status(), 401);
});

for (const [named, authorization, status] of [
  ['is refused once', {}, 401],
  ['opens Flower where it passes', { authorization: 'pass' }, 200],
] as const)
  t.test(`Flower’s password, typed into the browser’s dialogue, ${named}`, async (t) => {
    const route = { prefix: '/', upstream: 'app', browser: true, scopes: ['access'], ...authorization };
    const more = { upstreams: { app: { url: 'http://127.0.0.1:5555' } }, routes: [route] };
    const application = await startApplication(t, { ...flower, more });
    if (application === null) return;
    const browsing = await browse(t, application, '/', { httpCredentials: own });
    if (browsing === null) return;
    const response = await browsing.page.goto(`${application.origin}/workers`);
    t.equal(response!.status(), status, 'no circle of redirects');
    t.equal(await browsing.page.locator('.navbar').count(), status === 200 ? 1 : 0);
  });
