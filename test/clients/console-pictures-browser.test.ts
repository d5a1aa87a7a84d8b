import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { administrator } from '../support/gateway/gateway.ts';
import { openBrowser } from '../support/pages/browser.ts';
import { type ConsoleGateway, settled, startConsole } from '../support/pages/console.ts';
import { assertPicture } from '../support/pages/pictures.ts';

t.setTimeout(600_000);

const width = 1040;
const maxBytes = 300_000;
const scopes = {
  'orders:read': 'Read orders',
  'orders:write': 'Change orders',
  'invoices:read': 'Read invoices',
};
const guide = readFileSync(join(import.meta.dirname, '../../docs/console.md'), 'utf8');

/** Users, sets and keys as a small company might have them. Returns the id of one of the users. */
async function fill({ api }: ConsoleGateway): Promise<string> {
  const { accessToken: bearer } = await api.signIn(administrator.username, administrator.password);
  const make = async (path: string, json: object): Promise<string> => {
    const { status, json: made, text } = await api.send({ method: 'POST', path, bearer, json });
    if (status !== 201) throw new Error(`${status} ${text}`);
    return made.id;
  };
  const readers = await make('/api/admin/scope-sets/', {
    name: 'readers',
    description: 'Look at everything, change nothing',
    scopes: ['orders:read', 'invoices:read'],
  });
  await make('/api/admin/scope-sets/', {
    name: 'order desk',
    description: 'Take and change orders',
    scopes: ['orders:read', 'orders:write'],
  });
  const grace = await make('/api/admin/users/', {
    username: 'grace',
    display_name: 'Grace Hopper',
    email: 'grace@example.com',
    scopes: ['orders:write'],
    scope_sets: [readers],
  });
  await make('/api/admin/users/', { username: 'billing', kind: 'service', scope_sets: [readers] });
  const keys = {
    'nightly export': ['orders:read'],
    'invoice printer': ['invoices:read'],
    'order importer': ['orders:read', 'orders:write'],
  };
  for (const [label, held] of Object.entries(keys)) await api.mintKey(bearer, { label, scopes: held });
  return grace;
}

t.test('the pictures of the console', async (t) => {
  const context = await openBrowser(t, { deviceScaleFactor: 1.5, locale: 'en-GB' });
  if (context === null) return;
  const routes = [{ prefix: '/api', upstream: 'app' }];
  const gateway = await startConsole(t, { config: { scopes, routes } });
  const grace = await fill(gateway);
  const page = await gateway.open(context, 'administrator', 'api-keys');
  await page.setViewportSize({ width, height: 100 });
  const pictures = { 'console-keys': 'api-keys', 'console-user': `users/${grace}`, 'console-audit': 'audit' };
  for (const [name, path] of Object.entries(pictures)) {
    await page.goto(`${gateway.origin}/postern/console/${path}`);
    await settled(page);
    await assertPicture(t, page, { name, maxBytes });
    t.match(guide, `](images/${name}.png)`, 'and is shown');
  }
});
