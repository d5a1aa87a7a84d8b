import { join } from 'node:path';
import t, { type Test } from 'tap';
import { eventually } from '../support/eventually.ts';
import { startApplication } from './application.ts';
import { browse } from './browsing.ts';
import { fromPyPILater } from './installed.ts';
import type { Written } from './recipes.ts';

t.setTimeout(300_000);

const registrations = 'navigator.serviceWorker.getRegistrations().then(({ length }) => length)';

/** Opens the notebook, which runs over a WebSocket, and registers a service worker at `/`. */
async function open(t: Test, more?: Written) {
  const marimo = fromPyPILater('marimo', 'marimo');
  const notebook = join(import.meta.dirname, 'programs/marimo_notebook.py');
  const application = await startApplication(t, {
    recipe: 'marimo',
    needs: [marimo],
    readyPath: '/health',
    command: ({ port }) => [
      ...([marimo, 'run', notebook, '--headless', '--no-token'] as const),
      ...['--host', '127.0.0.1', '--port', `${port}`],
    ],
    ...(more && { more }),
  });
  const browsing = application && (await browse(t, application, '/'));
  if (!application || !browsing) return null;
  await browsing.page.locator('text=42').first().waitFor();
  return { ...browsing, ...application };
}

t.test('marimo: its service worker is registered by the recipe', async (t) => {
  const opened = await open(t);
  if (opened === null) return;
  await eventually('it is registered', async () => (await opened.page.evaluate<number>(registrations)) === 1);
});

t.test(
  'marimo without the line in web: the log says what refuses the worker; the notebook runs',
  async (t) => {
    const opened = await open(t, { web: {} });
    if (opened === null) return;
    const refused = await eventually('the worker is refused', () =>
      opened.gateway.logLines().find(({ reason }) => reason === 'service worker above the pages'),
    );
    t.match(refused, { outcome: 'cross_site', status: 403 });
    t.equal(await opened.page.evaluate<number>(registrations), 0);
  },
);
