import { join } from 'node:path';
import t from 'tap';
import { startApplication } from './application.ts';
import { browse } from './browsing.ts';
import { fromPyPILater } from './installed.ts';

t.setTimeout(300_000);

const name = 'C# a;b 100%.bin';

t.test('Gradio: an upload comes back under its name; gradio_client sends a key in a header', async (t) => {
  const application = await startApplication(t, {
    recipe: 'Gradio',
    needs: [fromPyPILater('gradio', 'gradio')],
    env: () => ({ GRADIO_ANALYTICS_ENABLED: 'False', HF_HUB_OFFLINE: '1' }),
    command: ({ port }) => [
      fromPyPILater('gradio', 'python'),
      join(import.meta.dirname, 'programs/gradio_app.py'),
      `${port}`,
    ],
  });
  if (application === null) return;
  const { origin, key, run } = application;
  const call = `from gradio_client import Client
print(Client(${JSON.stringify(origin)}, headers={"X-API-Key": ${JSON.stringify(key)}}, verbose=False).predict("tea", api_name="/shout"))`;
  const called = await run([fromPyPILater('gradio', 'python'), '-c', call]);
  t.match(called.printed, /TEA/, called.printed);

  const browsing = await browse(t, application, '/');
  if (browsing === null) return;
  const { page } = browsing;
  const buffer = Buffer.from('the content of the file');
  await page.setInputFiles('#given input[type=file]', { name, mimeType: 'application/octet-stream', buffer });
  const link = page.locator('#back a[download]').first();
  await link.waitFor();
  const address = await link.getAttribute('href');
  const { status, text } = await browsing.fetched(address!);
  t.strictSame([status, text], [200, 'the content of the file'], address!);
});
