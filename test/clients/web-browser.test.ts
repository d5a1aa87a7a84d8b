import t from 'tap';
import { administrator, bootstrapToken } from '../support/gateway/gateway.ts';
import { openBrowser } from '../support/pages/browser.ts';
import { heading, signIn, startBrowserSite } from '../support/pages/browser-site.ts';

t.setTimeout(600_000);

for (const javaScriptEnabled of [true, false])
  t.test(
    `from the activation to a protected page, ${javaScriptEnabled ? 'with' : 'without'} scripts`,
    async (t) => {
      const context = await openBrowser(t, { javaScriptEnabled });
      if (context === null) return;
      const { upstream, origin } = await startBrowserSite(t, { activated: false });
      const page = await context.newPage();
      const shown = () => heading(page);

      await page.goto(`${origin}/postern/activate#token=${bootstrapToken}`);
      if (!javaScriptEnabled) await page.fill('[name=token]', bootstrapToken);
      await signIn(page);
      t.equal(await shown(), 'GET /');
      t.equal(page.url(), `${origin}/`);
      await page.goto(`${origin}/orders?page=2`);
      t.equal(await shown(), 'GET /orders?page=2');
      t.same(upstream.seen.at(-1)?.values('x-auth-username'), ['ada']);

      const other = await context.newPage();
      await other.goto(`${origin}/postern/`);
      await other.click('text=Sign out');
      t.equal(await heading(other), 'You are signed out');
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
      t.equal(page.url(), `${origin}/`, 'who is signed in sees no form');
      t.equal((await context.cookies())[0]?.httpOnly, true);
    },
  );

t.test('an invitation that was used says so before anyone chooses a password', async (t) => {
  const context = await openBrowser(t);
  if (context === null) return;
  const { api, origin } = await startBrowserSite(t, { config: { endpoints: { users: 'own' } } });
  const { accessToken: bearer } = await api.signIn(administrator.username, administrator.password);
  const path = '/api/admin/users/';
  const { json: user } = await api.send({ method: 'POST', path, bearer, json: { username: 'grace' } });
  const invited = await api.send({ method: 'POST', path: `${path}${user.id}/invitation`, bearer });
  const link = `${origin}/postern/invitation#token=${invited.json.token}`;
  const page = await context.newPage();
  const asked = page.waitForResponse((response) => response.request().method() === 'POST');
  await page.goto(link);
  t.equal((await asked).status(), 204);
  t.notOk(await page.isVisible('[data-spent]'));
  await page.fill('[name=password]', 'a compiler of her own');
  await page.click('main button[type=submit]');
  t.equal(await heading(page), 'Password set');

  const again = await context.newPage();
  await again.goto(link);
  t.match(await again.textContent('[role=alert]'), 'This invitation has been used or has run out.');
  t.notOk(await again.isVisible('form'));
  t.equal(again.url(), `${origin}/postern/invitation`);
  await again.click('main >> text=sign in');
  t.equal(await heading(again), 'Sign in');
});

t.test('the right link in the tab where another was refused', async (t) => {
  const context = await openBrowser(t);
  if (context === null) return;
  const { origin } = await startBrowserSite(t, { activated: false });
  const page = await context.newPage();
  await page.goto(`${origin}/postern/activate#token=an-earlier-one`);
  await signIn(page);
  t.match(await page.textContent('main'), 'This is not the activation token');
  const sent: string[] = [];
  page.on('request', (request) => sent.push(request.method()));
  await page.evaluate(`location.hash = ${JSON.stringify(`#token=${bootstrapToken}`)}`);
  await page.waitForSelector('.problem', { state: 'detached' });
  await page.waitForSelector('#token', { state: 'hidden' });
  t.notOk(sent.includes('POST'), 'nothing is sent again');
  t.equal(page.url(), `${origin}/postern/activate`, 'the history keeps no token');
  await signIn(page);
  t.equal(await heading(page), 'GET /');
});
