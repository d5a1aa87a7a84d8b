import { rmSync } from 'node:fs';
import t from 'tap';
import { bootstrapToken, startTestGateway } from '../support/gateway/gateway.ts';
import { openBrowser } from '../support/pages/browser.ts';
import { signIn } from '../support/pages/browser-site.ts';
import { webRoutes } from '../support/pages/web.ts';
import { makeCertificate } from '../support/servers/certificates.ts';
import { onFreePort } from '../support/servers/free-port.ts';
import { startReturningProvider } from '../support/servers/returning-provider.ts';
import { makeTemporaryFolder } from '../support/temporary-folder.ts';

t.setTimeout(300_000);

t.test(
  'over https the cookies of the pages are this host’s alone, and a sign-out clears them all',
  async (t) => {
    const context = await openBrowser(t, { ignoreHTTPSErrors: true });
    if (context === null) return;
    const folder = makeTemporaryFolder('postern-https-');
    t.teardown(() => rmSync(folder, { recursive: true }));
    const { certFile: cert, keyFile: key } = makeCertificate(folder, 'localhost', ['DNS:localhost']);
    const issuer = await startReturningProvider(t);
    let origin = '';
    await onFreePort(async (port) => {
      origin = `https://localhost:${port}`;
      await startTestGateway(t, {
        config: {
          base_url: origin,
          listen: { port, tls: { cert, key } },
          web: {},
          routes: webRoutes,
          identity_providers: { staff: { issuer, client_id: 'postern' } },
        },
      });
    });
    const page = await context.newPage();
    await page.goto(`${origin}/postern/activate#token=${bootstrapToken}`);
    await signIn(page);
    await page.waitForURL(`${origin}/postern/`);
    await page.click('text=Sign out');
    await page.waitForURL(`${origin}/postern/signed-out`);
    await page.goto(`${origin}/app`);
    await page.click('text=Sign in with staff');
    await page.waitForURL(`${origin}/postern/callback/staff?*`);
    const held = async () =>
      (await context.cookies(origin)).map(({ name, path, secure, sameSite }) => [
        name.replace(/(?<=_login_).{6}$/, '…'),
        path,
        secure,
        sameSite,
      ]);
    const start = ['__Host-service_refresh_cookie_login_…', '/', true, 'Lax'];
    t.same(await held(), [start], 'a sign-in that has begun');
    await signIn(page);
    await page.waitForURL(`${origin}/app`);
    t.same((await held()).sort(), [start, ['__Host-service_refresh_cookie_web', '/', true, 'Lax']]);
    await page.goto(`${origin}/postern/sign-out`);
    await page.click('main button');
    await page.waitForURL(`${origin}/postern/signed-out`);
    t.same(await held(), []);
  },
);
