import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { administrator, bootstrapToken, startTestGateway } from '../support/gateway/gateway.ts';
import { openBrowser } from '../support/pages/browser.ts';

const guide = readFileSync(new URL('../../docs/front-ends.md', import.meta.url), 'utf8');
const code = /```js\n([\s\S]*?)```/.exec(guide)![1]!;

t.setTimeout(600_000);

t.test('the code of docs/front-ends.md in a browser, on another origin, in two tabs', async (t) => {
  const context = await openBrowser(t);
  if (context === null) return;
  const gateway = await startTestGateway(t);
  await gateway.api.activate(administrator.username, administrator.password, bootstrapToken);
  const address = `http://127.0.0.1:${gateway.port}`;
  const server = createServer(({ url }, response) => {
    const isScript = url === '/session.js';
    response.writeHead(200, { 'Content-Type': isScript ? 'text/javascript' : 'text/html' });
    response.end(isScript ? code.replace('https://api.example.com', address) : '<!doctype html><title>Page');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  // Ports of one host are one site; the cookie needs no https there.
  await gateway.reload({ base_url: address, cors: { origins: [origin] } });

  /** Opens a tab; gives what runs a piece of script with the functions of the code. */
  const openTab = async () => {
    const page = await context.newPage();
    await page.goto(origin);
    return (script: string): Promise<unknown> =>
      page.evaluate(`import('/session.js').then(async ({ signIn, refresh, call, signOut }) => {
        const status = (work) => work.then((response) => response?.status ?? 'done', (error) => error.status);
        ${script}
      })`);
  };
  const { username, password } = administrator;
  const first = await openTab();
  t.equal(await first('return status(refresh())'), 401);
  t.equal(
    await first(`return status(signIn(${JSON.stringify(username)}, ${JSON.stringify(password)}))`),
    'done',
  );
  t.equal(await first("return status(call('/api/store/1', { method: 'PUT', body: 'one' }))"), 200);
  const second = await openTab();
  const both = "return Promise.all([refresh(), status(call('/api/store/2'))]).then(([, status]) => status)";
  t.strictSame(await Promise.all([first(both), second(both)]), [200, 200]);
  t.equal(await second('return status(signOut())'), 'done');
  t.equal(await first("return status(call('/api/store/3'))"), 401);
});
