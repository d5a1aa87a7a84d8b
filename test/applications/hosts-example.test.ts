import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import t, { type Test } from 'tap';
import { guardProcess } from '../support/gateway/guarded-process.ts';
import { spawnNode } from '../support/gateway/node-process.ts';
import { openBrowser } from '../support/pages/browser.ts';
import { signIn } from '../support/pages/browser-site.ts';
import { guessPort } from '../support/servers/loopback-port.ts';
import { requireInstalled } from './installed.ts';

t.setTimeout(300_000);

const example = join(import.meta.dirname, '../../examples/many-hosts');
const installed = resolve('node_modules/.cache/example-hosts/node_modules/tiddlywiki/tiddlywiki.js');

/** Runs the example as `npm run example:hosts` does, but on other ports; gives the password that it says, and its port. */
async function runExample(t: Test): Promise<{ readonly password: string; readonly port: number }> {
  const folder = mkdtempSync(join(tmpdir(), 'postern-example-'));
  const file = join(folder, 'postern.yaml');
  const written = readFileSync(join(example, 'postern.yaml'), 'utf8');
  const first = guessPort();
  const ports = ['8080', '9090', '4001', '4002', '4003'];
  const moved = written.replace(/8080|9090|400[123]/g, (port) => `${first + ports.indexOf(port)}`);
  writeFileSync(file, moved);
  const child = spawnNode([join(example, 'run.ts'), file]);
  guardProcess(child);
  t.teardown(async () => {
    child.kill();
    if (child.exitCode === null) await once(child, 'exit');
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  let printed = '';
  const ended = once(child, 'close').then(() => Promise.reject(new Error(printed)));
  ended.catch(() => {});
  child.stderr!.on('data', (text) => {
    printed += text;
  });
  for (;;) {
    const password = /sign in as ada or grace, with the password ([\w-]+);/.exec(printed)?.[1];
    if (password !== undefined) return { password, port: first };
    const [text] = await Promise.race([once(child.stdout!, 'data'), ended]);
    printed += text;
  }
}

t.test('the example: three applications, three names, one sign-in', async (t) => {
  if (!requireInstalled(t, [installed])) return;
  const context = await openBrowser(t);
  if (context === null) return;
  const { password, port } = await runExample(t);
  const at = (name: string) => `http://${name}.localhost:${port}/`;
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  await page.goto(at('wiki'));
  t.match(await page.textContent('main'), `wiki.localhost:${port}`);
  await signIn(page, { username: 'ada', password });
  // Each application may take longer to start than Postern does: until then its pages are 502.
  const opened = async (selector: string) => {
    for (let left = 60; left > 0 && (await page.locator(selector).count()) === 0; left--) {
      await page.waitForTimeout(1_000);
      if ((await page.title()).startsWith('Problem')) await page.reload();
    }
    t.ok((await page.locator(selector).count()) > 0, `${page.url()} shows ${selector}`);
  };
  await opened('.tc-page-container');
  const status = await page.evaluate<{ username: string }>(
    `fetch('/status', { headers: { 'X-Requested-With': 'TiddlyWiki' } }).then((response) => response.json())`,
  );
  t.equal(status.username, 'ada', 'the wiki knows who it is');
  const saved = await page.evaluate<number>(
    `(async () => {
      const title = '$:/50% of a/b #1? \\\\c';
      const address = '/recipes/default/tiddlers/' + encodeURIComponent(title);
      const headers = { 'X-Requested-With': 'TiddlyWiki', 'Content-Type': 'application/json' };
      return (await fetch(address, { method: 'PUT', headers, body: JSON.stringify({ title }) })).status;
    })()`,
  );
  t.equal(saved, 204, 'a page of any title is saved');
  await page.goto(at('flows'));
  await opened('#red-ui-header-button-deploy');
  await page.goto(at('packages'));
  await opened('header');
  t.equal(page.url(), at('packages'), 'without a question');

  await page.goto(`${at('packages')}postern/sign-out`);
  await page.click('main button');
  await page.goto(at('wiki'));
  await page.waitForURL(/\/postern\/sign-in\?/);
  await signIn(page, { username: 'grace', password });
  await opened('.tc-page-container');
  await page.goto(at('flows'));
  t.match(await page.textContent('main'), /flows:edit/, 'what Grace may not open');
});
