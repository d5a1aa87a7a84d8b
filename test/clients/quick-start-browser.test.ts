import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import { createCommandFolder } from '../support/gateway/command.ts';
import { openBrowser } from '../support/pages/browser.ts';

t.setTimeout(600_000);

const quickstart = parse(readFileSync(join(import.meta.dirname, '../../config/quickstart.yaml'), 'utf8'));
const onFreePort = { host: '127.0.0.1', port: 0 };

t.test('from the printed address to a page that says who is signed in', async (t) => {
  const context = await openBrowser(t);
  if (context === null) return;
  const folder = createCommandFolder(t, {
    ...quickstart,
    listen: onFreePort,
    management: onFreePort,
    stores: { records: 'sqlite:records.db', sessions: 'sqlite:sessions.db' },
    bootstrap: {},
  });
  const { port, printed } = await folder.serve(['--quickstart']);
  const [, address = ''] = /^Open it in a browser: (\S+)$/m.exec(printed().stderr) ?? [];

  const page = await context.newPage();
  const shown = () => page.textContent('h1');
  await page.goto(address);
  await page.fill('[name=username]', 'admin');
  await page.fill('[name=password]', 'correct horse battery staple');
  await page.click('main button[type=submit]');
  t.equal(await shown(), 'Hello, admin');
  t.equal(page.url(), `http://127.0.0.1:${port}/`);
  t.match(await page.textContent('main'), 'X-Auth-Scopes');
  await page.click('text=Your account');
  t.equal(await shown(), 'You are signed in');
  await page.goBack();
  await page.click('text=Sign out');
  t.equal(await shown(), 'You are signed out');
  await page.goto(`http://127.0.0.1:${port}/orders`);
  t.equal(await shown(), 'Sign in');
});
