import { randomBytes } from 'node:crypto';
import t from 'tap';
import { eventually } from '../support/eventually.ts';
import { jupyterLab, startWebApplication } from './web-application.ts';

t.setTimeout(300_000);

t.test('JupyterLab: a kernel over WebSockets, an upload, and the end of both', async (t) => {
  const application = await startWebApplication(t, jupyterLab);
  if (application === undefined) return;
  const { page, origin } = application;
  const sockets = new Set<string>();
  page.on('websocket', (socket) => {
    sockets.add(socket.url());
    socket.on('close', () => sockets.delete(socket.url()));
  });

  await application.openSignedIn('/lab');
  await page.click('.jp-LauncherCard[data-category=Notebook]');
  await page.locator('text=Python 3 (ipykernel) | Idle').waitFor();
  const cell = page.locator('.jp-Notebook .jp-CodeCell .cm-content').first();
  await cell.click();
  await page.keyboard.type('6 * 7');
  await page.keyboard.press('Shift+Enter');
  await page.locator('.jp-OutputArea-output', { hasText: '42' }).first().waitFor();
  t.ok([...sockets].some((url) => /^ws:.*\/api\/kernels\/.*\/channels/.test(url)));

  const content = randomBytes(5_000_000);
  const chooser = page.waitForEvent('filechooser');
  await page.click('[title^="Upload Files"]');
  await (await chooser).setFiles([
    { name: 'upload.bin', mimeType: 'application/octet-stream', buffer: content },
  ]);
  await eventually('the upload', async () => application.contentOf('upload.bin').equals(content));
  const { status, text } = await application.fetched('/api/contents/upload.bin?content=0');
  t.equal(status, 200, 'its own API below /api is its own');
  t.match(JSON.parse(text), { name: 'upload.bin', size: content.length });

  await application.signOut();
  await eventually('every WebSocket has ended', async () => sockets.size === 0);
  const after = await application.fetched('/api/contents');
  t.equal(after.status, 401);
  t.match(JSON.parse(after.text), { code: 'not_authenticated', sign_in: '/postern/sign-in' });
  await page.goto(`${origin}/lab`);
  t.match(page.url(), /\/postern\/sign-in\?return_to=%2Flab/);
});
