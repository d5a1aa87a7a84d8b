import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { administrator } from '../support/gateway/gateway.ts';
import { openBrowser } from '../support/pages/browser.ts';
import { signIn } from '../support/pages/browser-site.ts';
import { type ConsoleGateway, settled, startConsole } from '../support/pages/console.ts';

t.setTimeout(600_000);

/** Two hosts of one site, so that the browser sends cookies of the one with requests from the other. */
const hosts = { service: 'orders.acme.localhost', console: 'console.acme.localhost' };
const script = readFileSync(new URL('programs/other-site.js', import.meta.url));

const targets = [
  '/postern/console/',
  '/postern/console/api-keys',
  '/postern/',
  '/postern/password',
  '/api/login/refresh-token',
  '/api/self/sessions/',
  '/api/admin/api-keys/',
];

/** A console on a host of its own, in front of a service whose pages have a script that is up to no good. */
async function start(t: Test): Promise<ConsoleGateway> {
  const routes = [{ prefix: '/', upstream: 'app', browser: true }];
  const gateway = await startConsole(t, { hosts, config: { routes } });
  gateway.upstream.response = ({ url }, response) => {
    const isScript = url === '/script.js';
    response
      .writeHead(200, { 'Content-Type': isScript ? 'text/javascript' : 'text/html' })
      .end(
        isScript ? script : '<!doctype html><title>Orders</title><body><script src="/script.js"></script>',
      );
  };
  return gateway;
}

/** What the page learned from each target by that attack; `refused` where it could not even try. */
const attack = (page: Page, name: string, urls: readonly string[]) =>
  page.evaluate<string[]>(
    `Promise.all(${JSON.stringify(urls)}.map(async (url) => {
      try { return await attacks[${JSON.stringify(name)}](url); } catch { return 'refused'; }
    }))`,
  );

t.test('a service’s script can neither read nor drive a console on a host of its own', async (t) => {
  const context = await openBrowser(t);
  if (context === null) return;
  const gateway = await start(t);
  const console = await gateway.open(context, 'administrator', 'api-keys');
  const service = gateway.origin.replace(hosts.console, hosts.service);
  const page = await context.newPage();
  await page.goto(`${service}/postern/sign-in?return_to=/orders`);
  await signIn(page);
  await page.waitForURL(`${service}/orders`);

  const names = await page.evaluate<string[]>('Object.keys(attacks)');
  t.ok(names.length > 35);
  const urls = targets.map((path) => gateway.origin + path);
  for (const name of names) {
    await page.goto(`${service}/orders`);
    for (const [index, learned] of (await attack(page, name, urls)).entries())
      t.match(learned, /^(refused|opaque)$/, `${name} of ${targets[index]}`);
  }
  await t.test('a window that it opens is none of its business', async (t) => {
    await page.goto(`${service}/orders`);
    const learned = await page.evaluate<string>(`new Promise((resolve) => {
      const opened = open(${JSON.stringify(`${gateway.origin}/postern/console/`)});
      setTimeout(() => {
        try { resolve(opened.document.body.textContent); } catch (error) { resolve(error.name); }
      }, 3_000);
    })`);
    t.match(learned, /^(SecurityError|TypeError|)$/);
  });

  t.equal(await console.evaluate('document.querySelectorAll("iframe").length'), 0);
  await console.reload();
  await settled(console);
  t.equal(await console.textContent('h1'), 'API keys', 'who has it open still has');
  t.match(await console.textContent('main'), 'There are no API keys yet.', 'and nothing was made');
});

t.test('each host has its own part, and its own cookies', async (t) => {
  const context = await openBrowser(t);
  if (context === null) return;
  const gateway = await start(t);
  const page = await gateway.open(context, 'administrator');
  const service = gateway.origin.replace(hosts.console, hosts.service);
  const statusAt = async (url: string) => (await page.goto(url))!.status();
  t.equal(await statusAt(`${gateway.origin}/orders`), 404, 'no service on the console’s host');
  t.equal(await statusAt(`${service}/postern/console/`), 404, 'no console on that of the services');
  t.ok((await context.cookies()).length >= 2);
  for (const { name, domain } of await context.cookies()) t.equal(domain, hosts.console, name);
  await page.goto(`${service}/orders`);
  t.match(page.url(), `${service}/postern/sign-in`, 'signed in there, and not here');
  await signIn(page, administrator);
  const there = (await context.cookies()).filter(({ domain }) => domain === hosts.service);
  t.equal(there.length, 1, 'the web cookie alone');
});
