import { randomBytes } from 'node:crypto';
import t from 'tap';
import { eventually } from '../support/eventually.ts';
import { copyparty, startWebApplication } from './web-application.ts';

t.setTimeout(300_000);

t.test('copyparty: uploads in pieces, a list, a download', async (t) => {
  const application = await startWebApplication(t, copyparty);
  if (application === undefined) return;
  const { page, origin } = application;
  await application.openSignedIn('/');
  const contents = new Map(['one.bin', 'two.bin'].map((name) => [name, randomBytes(3_000_000)]));
  await page.setInputFiles(
    '#file1',
    [...contents].map(([name, buffer]) => ({ name, mimeType: 'application/octet-stream', buffer })),
  );
  await page.click('#modal-ok');
  await eventually('both uploads', async () =>
    [...contents].every(([name, buffer]) => application.contentOf(name).equals(buffer)),
  );
  await page.goto(`${origin}/`);
  t.match(await page.textContent('body'), 'one.bin');
  const length = await page.evaluate<number>(
    `fetch('/two.bin').then(async (response) => (await response.arrayBuffer()).byteLength)`,
  );
  t.equal(length, 3_000_000);

  await application.signOut();
  t.equal((await application.fetched('/one.bin')).status, 401);
  await page.reload();
  t.match(page.url(), '/postern/sign-in?return_to=%2F');
});
