import type { Page } from 'playwright-core';
import t from 'tap';
import { openBrowser } from '../support/pages/browser.ts';
import { startBrowserSite } from '../support/pages/browser-site.ts';
import { publish, startStubProvider } from '../support/servers/stub-provider.ts';

t.setTimeout(600_000);

/** In docs/browser.md. */
const maxBytes = 30 * 1024;

/** Bytes that a browser with an empty cache receives, heads included, until the page and all it loads is there. */
async function bytesOf(
  page: Page,
  address: string,
): Promise<{ readonly bytes: number; readonly loaded: string[] }> {
  const network = await page.context().newCDPSession(page);
  const loaded: string[] = [];
  let bytes = 0;
  network.on('Network.responseReceived', ({ response }) => loaded.push(new URL(response.url).pathname));
  network.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength;
  });
  await network.send('Network.enable');
  await network.send('Network.setCacheDisabled', { cacheDisabled: true });
  await page.goto(address, { waitUntil: 'networkidle' });
  return { bytes, loaded };
}

t.test('the sign-in page and all that it loads weighs less than 30 KiB', async (t) => {
  const context = await openBrowser(t);
  if (context === null) return;
  const stub = await startStubProvider(t);
  publish(stub, [], {});
  const provider = { issuer: stub.origin, client_id: 'postern' };
  const { origin, api } = await startBrowserSite(t, {
    config: { identity_providers: { idp: provider, partner: provider } },
  });
  const page = await context.newPage();
  const { bytes, loaded } = await bytesOf(page, `${origin}/postern/sign-in?return_to=%2Forders%3Fpage%3D2`);
  t.match(await page.textContent('main'), /Sign in with partner/);
  for (const part of ['/postern/sign-in', 'style', 'password'])
    t.ok(
      loaded.some((path) => path.includes(part)),
      `it loads ${part}`,
    );
  const icon = (await page.getAttribute('link[rel=icon]', 'href'))!;
  // A browser without a window may do without the icon.
  const unloaded = loaded.includes(icon) ? '' : (await api.send({ path: icon })).text;
  const all = bytes + Buffer.byteLength(unloaded);
  t.comment(`${all} bytes: ${loaded.join(' ')}`);
  t.ok(bytes > 5_000, 'they were counted');
  t.ok(all < maxBytes, `${all} bytes`);
});
