import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { startApplication } from './application.ts';
import { browse } from './browsing.ts';
import { fromPyPI } from './installed.ts';

t.setTimeout(300_000);

t.test('Flower with a password of its own, which no one has to know', async (t) => {
  const application = await startApplication(t, {
    recipe: 'Flower',
    needs: [fromPyPI('celery')],
    secret: `Basic ${Buffer.from('zoe:of Flower itself').toString('base64')}`,
    command({ folder, port }) {
      const lines = [`from celery import Celery`, `app = Celery("tasks", broker="memory://")`];
      writeFileSync(join(folder, 'tasks.py'), `${lines.join('\n')}\n`);
      return [
        ...([fromPyPI('celery'), '-A', 'tasks', 'flower', '--address=127.0.0.1'] as const),
        ...[`--port=${port}`, '--basic-auth=zoe:of Flower itself'],
      ];
    },
  });
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
