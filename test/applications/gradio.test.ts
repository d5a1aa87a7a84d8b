import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { type RunningApplication, startApplication } from './application.ts';
import { browse } from './browsing.ts';
import { fromPyPILater } from './installed.ts';

t.setTimeout(300_000);

const name = 'C# a;b 100%.bin';
const content = 'the content of the file';
const program = (file: string) => join(import.meta.dirname, 'programs', file);

/** gradio_client uploads and downloads with a key in a header. */
async function judgeClient(t: Test, { origin, key, run, clients }: RunningApplication): Promise<void> {
  mkdirSync(join(clients, 'downloads'));
  writeFileSync(join(clients, name), content);
  const call = (key: string) =>
    run([fromPyPILater('gradio', 'python'), program('gradio_caller.py'), origin, key, name]);
  const called = await call(key);
  t.equal(called.code, 0, called.printed);
  t.match(called.printed, `TEA\n${name}: ${content}\n`);
  t.match(await call('guessed'), { code: 1, printed: /AuthenticationError/ });
}

/** A person uploads a file in Chromium, and downloads what comes back by its link. */
async function judgePeople(t: Test, application: RunningApplication): Promise<void> {
  const browsing = await browse(t, application, '/');
  if (browsing === null) return;
  const { page } = browsing;
  await page.setInputFiles('#given input[type=file]', {
    name,
    mimeType: 'application/octet-stream',
    buffer: Buffer.from(content),
  });
  const link = page.locator('#back a[download]').first();
  await link.waitFor();
  const address = (await link.getAttribute('href'))!;
  t.match(address, /%23/, 'the address has its name');
  const downloading = page.waitForEvent('download');
  await link.click();
  const download = await downloading;
  t.equal(download.suggestedFilename(), name);
  t.equal(readFileSync(await download.path(), 'utf8'), content, address);
}

t.test('Gradio: an upload comes back under its name, in Chromium and by gradio_client', async (t) => {
  const application = await startApplication(t, {
    recipe: 'Gradio',
    needs: [fromPyPILater('gradio', 'gradio')],
    env: () => ({ GRADIO_ANALYTICS_ENABLED: 'False', HF_HUB_OFFLINE: '1' }),
    command: ({ port }) => [fromPyPILater('gradio', 'python'), program('gradio_app.py'), `${port}`],
  });
  if (application === null) return;
  await judgeClient(t, application);
  await judgePeople(t, application);
});
