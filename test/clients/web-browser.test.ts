import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { openBrowser } from '../support/browser.ts';
import { onFreePort } from '../support/free-port.ts';
import { administrator, bootstrapToken, startTestGateway, type TestGateway } from '../support/gateway.ts';

t.setTimeout(120_000);

async function start(t: Test): Promise<{ readonly gateway: TestGateway; readonly origin: string }> {
  let gateway: TestGateway | undefined;
  const port = await onFreePort(async (port) => {
    gateway = await startTestGateway(t, {
      config: {
        base_url: `http://127.0.0.1:${port}`,
        listen: { port },
        web: { title: 'Orders' },
        routes: [{ prefix: '/', upstream: 'app', browser: true }],
      },
    });
  });
  gateway!.upstream.response = (request, response) =>
    response
      .writeHead(200, { 'content-type': 'text/html' })
      .end(`<!doctype html><title>Orders</title><h1>${request.url}</h1>`);
  return { gateway: gateway!, origin: `http://127.0.0.1:${port}` };
}

async function signIn(page: Page): Promise<void> {
  await page.fill('[name=username]', administrator.username);
  await page.fill('[name=password]', administrator.password);
  await page.click('main button[type=submit]');
}

for (const javaScriptEnabled of [true, false])
  t.test(
    `from the activation to a protected page, ${javaScriptEnabled ? 'with' : 'without'} scripts`,
    async (t) => {
      const context = await openBrowser(t, { javaScriptEnabled });
      if (context === null) return;
      const { gateway, origin } = await start(t);
      const page = await context.newPage();
      const shown = () => page.textContent('h1');

      await page.goto(`${origin}/postern/activate#token=${bootstrapToken}`);
      if (!javaScriptEnabled) await page.fill('[name=token]', bootstrapToken);
      await signIn(page);
      t.equal(await shown(), 'You are signed in');
      t.equal(page.url(), `${origin}/postern/`);
      await page.goto(`${origin}/orders?page=2`);
      t.equal(await shown(), '/orders?page=2');
      t.same(gateway.upstream.seen.at(-1)?.values('x-auth-username'), ['ada']);

      const other = await context.newPage();
      await other.goto(`${origin}/postern/`);
      await other.click('text=Sign out');
      t.equal(await other.textContent('h1'), 'You are signed out');
      t.same(await context.cookies(), [], 'nothing of the session is left');
      await page.reload();
      t.equal(await shown(), 'Sign in', 'the other tab is led to the sign-in page');
      await page.fill('[name=username]', 'ada');
      await page.fill('[name=password]', 'not this one');
      await page.click('main button[type=submit]');
      t.match(await page.textContent('[role=alert]'), /do not match/);
      t.equal(await page.inputValue('[name=username]'), 'ada');
      await signIn(page);
      t.equal(page.url(), `${origin}/orders?page=2`, 'and back to where it was');
      await page.goto(`${origin}/postern/sign-in`);
      t.equal(page.url(), `${origin}/postern/`, 'who is signed in sees no form');
      t.equal((await context.cookies())[0]?.httpOnly, true);
    },
  );
