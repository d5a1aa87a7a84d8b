import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { guardProcess } from '../support/gateway/guarded-process.ts';
import { spawnNode } from '../support/gateway/node-process.ts';
import { openBrowser } from '../support/pages/browser.ts';
import { guessPort } from '../support/servers/loopback-port.ts';

const example = join(import.meta.dirname, '../../examples/identity-provider');

/** Runs the example as `npm run example:idp` does, but on other ports; gives the address it says to open. */
async function runExample(t: Test): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'postern-example-'));
  const file = join(folder, 'postern.yaml');
  const written = readFileSync(join(example, 'postern.yaml'), 'utf8');
  const first = guessPort();
  const ports = ['8080', '9090', '3000', '4000'];
  writeFileSync(
    file,
    written.replace(/8080|9090|3000|4000/g, (port) => `${first + ports.indexOf(port)}`),
  );
  const child = spawnNode([join(example, 'run.ts'), file]);
  guardProcess(child);
  t.teardown(async () => {
    child.kill();
    if (child.exitCode === null) await once(child, 'exit');
    rmSync(folder, { recursive: true, force: true });
  });
  let printed = '';
  const ended = once(child, 'close').then(() => Promise.reject(new Error(printed)));
  ended.catch(() => {});
  child.stderr!.on('data', (text) => {
    printed += text;
  });
  for (;;) {
    const address = /Open (\S+) and sign in as alice or bob/.exec(printed)?.[1];
    if (address !== undefined) return address;
    const [text] = await Promise.race([once(child.stdout!, 'data'), ended]);
    printed += text;
  }
}

/** At the provider: types who it is, and agrees. */
async function signInAtProvider(page: Page, account: string): Promise<void> {
  await page.fill('input[name=login]', account);
  await page.fill('input[name=password]', 'any');
  await page.click('button[type=submit]');
  await agree(page);
}

async function agree(page: Page): Promise<void> {
  await page.waitForSelector('input[name=prompt][value=consent]', { state: 'attached' });
  await page.click('button[type=submit]');
}

const says = (page: Page, text: string) => page.waitForSelector(`#who:text-is("${text}")`);
const alice =
  'Signed in as alice, who may: apikeys:read apikeys:write audit:read scopesets:read scopesets:write ' +
  'sessions:read sessions:write store:read store:write users:read users:write';

t.test('in a browser, from a page on another origin', async (t) => {
  const context = await openBrowser(t);
  if (context === null) return;
  const address = await runExample(t);
  const referrers: string[] = [];
  const gatewayAddresses: string[] = [];
  context.on('request', (request) => {
    referrers.push(request.headers().referer ?? '');
    if (new URL(request.url()).pathname.startsWith('/api/')) gatewayAddresses.push(request.url());
  });
  const page = await context.newPage();
  page.setDefaultTimeout(10_000);

  await t.test('a person signs in with an ID token', async (t) => {
    await page.goto(address);
    await says(page, 'Signed out');
    await page.click('text=Sign in (ID token)');
    await signInAtProvider(page, 'alice');
    t.ok(await says(page, alice));
    t.equal(page.url(), address, 'nothing of it stays in the address');
    t.notMatch(await page.evaluate('document.cookie'), /service_refresh_cookie/, 'no script sees the cookie');
  });

  await t.test('stays signed in', async (t) => {
    const refreshed = page.waitForResponse(/refresh-token/);
    await page.click('text=Refresh');
    t.equal((await refreshed).status(), 200);
    await page.reload();
    t.ok(await says(page, alice));
    const tab = await context.newPage();
    await tab.goto(address);
    t.ok(await says(tab, alice), 'in another tab');
    await tab.close();
  });

  await t.test('and signs out', async (t) => {
    await page.click('text=Sign out');
    t.ok(await says(page, 'Signed out'));
    await page.reload();
    t.ok(await says(page, 'Signed out'));
  });

  await t.test('signs in with a code, in two tabs at once', async (t) => {
    const tab = await context.newPage();
    await tab.goto(address);
    // The provider knows who it is from before.
    await page.click('text=Sign in (code)');
    await tab.click('text=Sign in (code)');
    await agree(tab);
    t.ok(await says(tab, alice));
    await agree(page);
    t.ok(await says(page, alice));
    t.equal(page.url(), address);
  });

  await t.test('may think better of it', async (t) => {
    await page.click('text=Sign out');
    await says(page, 'Signed out');
    await page.click('text=Sign in (ID token)');
    await page.click('text=Cancel');
    t.ok(await page.waitForSelector('#problem:text-is("End-User aborted interaction")'));
    t.ok(await says(page, 'Signed out'));
  });

  const tokens = /id_token|code=|eyJ/;
  t.ok(gatewayAddresses.some((url) => url.endsWith('/exchange')));
  t.notOk(
    [...referrers, ...gatewayAddresses].some((text) => tokens.test(text)),
    'no address passed one on',
  );
});
