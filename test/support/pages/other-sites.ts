import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BrowserContext, Page } from 'playwright-core';
import type { Test } from 'tap';
import { administrator, type TestScope } from '../gateway/gateway.ts';
import { openBrowser } from './browser.ts';
import { type BrowserSite, signIn, startBrowserSite } from './browser-site.ts';
import { navigation } from './web.ts';

/** A browser that is signed in to a site of ours, and two origins that aren't ours. */
export interface OtherSites {
  readonly context: BrowserContext;
  readonly page: Page;
  readonly site: BrowserSite;
  /** The web cookie, as `name=value`. */
  readonly cookie: string;
  /** Another port of 127.0.0.1: another origin, but the same site. */
  readonly neighbour: string;
  /** `localhost`: another site. */
  readonly stranger: string;
}

const routes = [
  { prefix: '/live', upstream: 'sockets', browser: true },
  { prefix: '/api', upstream: 'app' },
  { prefix: '/', upstream: 'app', browser: true },
];

/** Starts them, the other origins' pages with a script of `test/clients/programs`; null where there is no browser. */
export async function startOtherSites(t: Test, script: string): Promise<OtherSites | null> {
  const context = await openBrowser(t);
  if (context === null) return null;
  const site = await startBrowserSite(t, { config: { routes, endpoints: { users: 'own' } } });
  await createMallory(site);
  const port = await serveOtherSite(t, script);
  const page = await context.newPage();
  context.on('dialog', (dialog) => t.fail(`a dialog: ${dialog.message()}`));
  await page.goto(`${site.origin}/postern/sign-in`);
  await signIn(page);
  const [{ name, value } = { name: '', value: '' }] = await context.cookies();
  const [neighbour, stranger] = [`http://127.0.0.1:${port}`, `http://localhost:${port}`];
  return { context, page, site, cookie: `${name}=${value}`, neighbour, stranger };
}

/** The account that the forms of the other sites' scripts sign in to. */
async function createMallory({ api }: BrowserSite): Promise<void> {
  const { username, password } = administrator;
  const { accessToken: bearer } = await api.signIn(username, password);
  const json = { username: 'mallory', password: 'correct horse battery staple' };
  const created = await api.send({ method: 'POST', path: '/api/admin/users/', bearer, json });
  if (created.status !== 201) throw new Error(`${created.status} ${created.text}`);
}

/** Every page loads the script; `/on?to=URL&status=307` sends the browser on. */
async function serveOtherSite(t: TestScope, script: string): Promise<number> {
  const code = readFileSync(new URL(`../../clients/programs/${script}`, import.meta.url));
  const page =
    '<!doctype html><title>Other</title><link rel="icon" href="data:,"><body><script src="/script.js"></script>';
  const server = createServer(({ url = '' }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://a.example');
    const to = searchParams.get('to');
    if (pathname === '/on' && to !== null)
      response.writeHead(Number(searchParams.get('status')), { Location: to }).end();
    else if (pathname === '/script.js')
      response.writeHead(200, { 'Content-Type': 'text/javascript' }).end(code);
    else response.writeHead(200, { 'Content-Type': 'text/html' }).end(page);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** That nothing has come of an attack: the same session, alive, and in the same browser. */
export async function assertStillSignedIn(t: Test, { context, site, cookie }: OtherSites): Promise<void> {
  const cookies = (await context.cookies(site.origin)).map(({ name, value }) => `${name}=${value}`);
  t.same(cookies, [cookie], 'the browser has its cookie, and no other');
  const home = await site.api.send({ path: '/postern/', headers: navigation, cookie });
  t.match(home, { status: 200, text: /<strong>ada<\/strong>/ }, 'and its session is alive');
}

/** What the gateway responded from that line of its log on: `METHOD path status`. */
export const responsesFrom = (site: BrowserSite, line: number): string[] =>
  site
    .logLines()
    .slice(line)
    .filter(({ msg }) => msg === 'request')
    .map(({ method, path, status }) => `${method} ${path} ${status}`);
