import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { eventually } from '../support/eventually.ts';
import { startApplication } from './application.ts';
import { browse } from './browsing.ts';
import { fromPyPI } from './installed.ts';

t.setTimeout(300_000);

const name = 'Zoë #1?.txt';
const token = 'of-jupyter-itself';

t.test('JupyterLab: a file with # and ? in its name is saved; a program has its token', async (t) => {
  let files = '';
  const application = await startApplication(t, {
    recipe: 'JupyterLab',
    needs: [fromPyPI('jupyter-lab')],
    readyPath: '/api/status',
    env: ({ folder }) => ({ JUPYTER_CONFIG_DIR: join(folder, '.jupyter'), JUPYTER_TOKEN: token }),
    command({ folder, port }) {
      files = join(folder, 'files');
      mkdirSync(files);
      writeFileSync(join(files, name), 'tea\n');
      writeFileSync(join(files, '100%25.txt'), 'coffee\n');
      return [
        ...([
          fromPyPI('jupyter-lab'),
          '--no-browser',
          '--allow-root',
          '--ip=127.0.0.1',
          `--port=${port}`,
        ] as const),
        ...['--ServerApp.port_retries=0', `--ServerApp.root_dir=${files}`],
      ];
    },
  });
  if (application === null) return;
  const { origin, key } = application;
  const both = { 'X-API-Key': key, Authorization: `token ${token}` };
  const contents = (file: string) =>
    fetch(`${origin}/api/contents/${encodeURIComponent(file)}`, { headers: both });
  t.match(await (await contents(name)).json(), { name, content: 'tea\n' });
  t.match(await (await contents('100%25.txt')).json(), { name: '100%25.txt', content: 'coffee\n' });
  const body = JSON.stringify({ type: 'file', format: 'text', content: 'new' });
  const created = await fetch(`${origin}/api/contents/new.txt`, { method: 'PUT', headers: both, body });
  t.equal(created.status, 201);
  const guessed = { 'X-API-Key': key, Authorization: 'token guessed' };
  t.equal((await fetch(`${origin}/api/contents`, { headers: guessed })).status, 403, 'judged by Jupyter');

  const browsing = await browse(t, application, `/lab?token=${token}`);
  if (browsing === null) return;
  const { page } = browsing;
  await page.locator('.jp-DirListing-item', { hasText: name }).dblclick();
  const editor = page.locator('.jp-FileEditor .cm-content', { hasText: 'tea' }).first();
  await editor.click();
  await page.keyboard.press('Control+Home');
  await page.keyboard.type('more ');
  await page.keyboard.press('Control+s');
  await eventually('the change is saved', () => readFileSync(join(files, name), 'utf8') === 'more tea\n');

  await page.goto(`${origin}/lab/tree/${encodeURIComponent('100%25.txt')}`);
  await page.locator('.jp-FileEditor .cm-content', { hasText: 'coffee' }).first().waitFor();
});
