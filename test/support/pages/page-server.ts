import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';
import { type Logo, loadAssets } from '../../../src/web/assets.ts';
import type { Site } from '../../../src/web/site.ts';

/** What every response of the area carries. */
export const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/** A site at `/postern` whose assets are there. */
export function createSite(logo: Logo | null = null) {
  const path = '/postern';
  const assets = loadAssets({ path, logo });
  const site: Site = {
    path,
    signIn: `${path}/sign-in`,
    title: 'Acme Asset Store',
    tenant: 'acme-staging',
    contact: null,
    origins: ['https://acme.example.com'],
    ...assets.addresses,
  };
  return { assets, site };
}

/** Serves pages by their names, and their assets, on loopback with the policy of the area; gives its origin. */
export async function servePages(
  t: Test,
  { assets, site }: ReturnType<typeof createSite>,
  pages: Readonly<Record<string, (site: Site) => string>>,
): Promise<string> {
  let origin = '';
  const server = createServer(({ method, url = '' }, response) => {
    response.setHeader('Content-Security-Policy', policy);
    response.setHeader('X-Content-Type-Options', 'nosniff');
    // The browser stays where it is.
    if (method === 'POST') return response.writeHead(204).end();
    const path = url.split('?')[0]!;
    const asset = assets.find(path);
    const page = pages[path.slice(1)];
    if (asset !== undefined) response.setHeader('Content-Type', asset.contentType).end(asset.bytes);
    else if (page !== undefined)
      response
        .setHeader('Content-Type', 'text/html; charset=utf-8')
        .end(page({ ...site, origins: [origin] }));
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return origin;
}
