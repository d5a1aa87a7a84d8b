import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { connectRaw } from '../support/clients/raw-client.ts';
import { eventually } from '../support/eventually.ts';
import { isLong } from '../support/gateway/gateway-under-load.ts';
import { openBrowser } from '../support/pages/browser.ts';
import { heading, signIn } from '../support/pages/browser-site.ts';
import { makeCertificate } from '../support/servers/certificates.ts';
import { guessPort } from '../support/servers/loopback-port.ts';
import { type AskingProxy, askingProxies } from './asking-proxies.ts';
import { type HostsBench, places, portOf, startHostsBench } from './hosts-bench.ts';
import { runProxy } from './proxy-program.ts';

t.setTimeout(600_000);

/** Port of an nginx that ends TLS for every name, and hands all on to the proxy that asks. */
async function startTlsFront(t: Test, { proxyPort }: HostsBench): Promise<number> {
  const program = askingProxies.nginx.find()!;
  const port = guessPort();
  const folder = mkdtempSync(join(tmpdir(), 'postern-tls-front-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const { certFile, keyFile } = makeCertificate(folder, 'localhost', ['DNS:localhost']);
  const server = `map $http_upgrade $front_connection {
  default upgrade;
  '' '';
}
server {
  listen 127.0.0.1:${port} ssl;
  ssl_certificate ${certFile};
  ssl_certificate_key ${keyFile};
  location / {
    proxy_pass http://127.0.0.1:${proxyPort};
    proxy_http_version 1.1;
    proxy_set_header Host $http_host;
    proxy_set_header X-Forwarded-For $remote_addr;
    proxy_set_header X-Forwarded-Proto https;
    proxy_set_header Upgrade $http_upgrade;
    proxy_set_header Connection $front_connection;
  }
}
`;
  runProxy(t, program, askingProxies.nginx, { 'postern.conf': server }, { port, service: '' });
  await eventually(`TLS on port ${port}`, () =>
    connectRaw(port).then(
      (connection) => {
        connection.reset();
        return true;
      },
      () => false,
    ),
  );
  return port;
}

/** What a WebSocket to `url` sends back, or that it was closed. */
const webSocketTo = (page: Page, url: string) =>
  page.evaluate(`new Promise((resolve) => {
    const socket = new WebSocket(${JSON.stringify(url.replace('https:', 'wss:'))});
    socket.onopen = () => socket.send('echoed');
    socket.onmessage = ({ data }) => resolve(data);
    socket.onclose = () => resolve('closed');
  })`);

const others = ['haproxy', 'traefik', 'caddy', 'envoy', 'envoy-grpc'] as const;

for (const name of ['nginx', ...(isLong ? others : [])] as const)
  t.test(`Chromium, an nginx that ends TLS, ${name} that asks: one sign-in for every host`, async (t) => {
    const proxy: AskingProxy = askingProxies[name];
    const bench = await startHostsBench(t, name, proxy);
    if (bench === undefined) return;
    const port = await startTlsFront(t, bench);
    const context = await openBrowser(
      t,
      { ignoreHTTPSErrors: true },
      { resolver: `MAP * 127.0.0.1:${port}` },
    );
    if (context === null) return;
    const at = (place: keyof typeof places) => `https://${places[place]}${portOf[place]}`;
    const page = await context.newPage();
    page.setDefaultTimeout(20_000);

    await page.goto(`${at('wiki')}/app/x?y=1`);
    await page.waitForURL(`${at('base')}/postern/sign-in?*`);
    t.match(await page.textContent('main'), places.wiki);
    await signIn(page);
    await page.waitForURL(`${at('wiki')}/app/x?y=1`);
    t.equal(await page.textContent('body'), 'served');
    t.equal(await webSocketTo(page, `${at('wiki')}/app/socket`), 'echoed', 'a WebSocket of its own page');
    for (const place of ['files', 'preview', 'base'] as const) {
      await page.goto(`${at(place)}/app/y`);
      await page.waitForURL(`${at(place)}/app/y`);
      t.equal(await page.textContent('body'), 'served', `${place}, without a question`);
    }
    t.equal(await webSocketTo(page, `${at('base')}/app/live`), 'echoed');
    t.equal(await webSocketTo(page, `${at('wiki')}/app/live`), 'closed', 'of the same site, and foreign');
    const delivered = bench.takeDelivered();
    t.same(
      delivered.filter(({ seen }) => seen.target === '/app/live').map(({ place }) => place),
      ['base'],
    );
    for (const { place, seen } of delivered) {
      if (!seen.target.startsWith('/app/')) continue;
      t.same(seen.values('x-auth-username'), ['ada'], place);
      t.same(seen.values('x-forwarded-host'), [places[place] + portOf[place]], place);
    }
    await page.goto(`${at('files')}/postern/sign-out`);
    await page.click('main button');
    await page.waitForURL(`${at('files')}/postern/signed-out`);
    await page.goto(`${at('wiki')}/app/x`);
    t.equal(await heading(page), 'Sign in', 'a sign-out at one ends it at the others');
  });
