import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { shownText } from '../support/corpora/shown-text.ts';
import { administrator } from '../support/gateway/gateway.ts';
import { openBrowser } from '../support/pages/browser.ts';
import { type BrowserSite, startBrowserSite } from '../support/pages/browser-site.ts';
import { policy } from '../support/pages/page-server.ts';
import { someMarkupTexts } from '../support/pages/page-texts.ts';
import { openWatched } from '../support/pages/page-watch.ts';
import { publish, startStubProvider } from '../support/servers/stub-provider.ts';

t.setTimeout(600_000);

/** Fills in fields of the only form of a page, whatever they may hold, and sends it. */
async function send(page: Page, fields: Readonly<Record<string, string>>): Promise<void> {
  const arrived = page.waitForEvent('framenavigated');
  await page.evaluate(
    `((fields) => {
      const form = document.querySelector('main form');
      for (const [name, value] of Object.entries(fields)) {
        form.querySelector('[name=' + name + ']')?.remove();
        form.append(Object.assign(document.createElement('textarea'), { name, value }));
      }
      HTMLFormElement.prototype.submit.call(form);
    })(${JSON.stringify(fields)})`,
  );
  await arrived;
  await page.waitForLoadState();
}

type Visit = (page: Page, origin: string, text: string) => Promise<unknown>;

/** How a browser comes to show a text of another person's at the gateway itself. */
const visits: Readonly<Record<string, Visit>> = {
  'a place to return to': (page, origin, text) =>
    page.goto(`${origin}/postern/sign-in?${new URLSearchParams({ return_to: `/app?${text}` })}`),
  'a sign-in that fails': async (page, origin, text) => {
    await page.goto(`${origin}/postern/sign-in`);
    await send(page, { username: text, password: 'wrong', return_to: `/app?${text}` });
  },
  'a path without a page': (page, origin, text) => page.goto(`${origin}/postern/${encodeURIComponent(text)}`),
  'an error of a provider': (page, origin, text) =>
    page.goto(
      `${origin}/postern/callback/staff?${new URLSearchParams({ error: text, error_description: text, state: text })}`,
    ),
  'the token of an invitation': async (page, origin, text) => {
    await page.goto(`${origin}/postern/invitation?#token=${encodeURIComponent(text)}`);
    await send(page, { token: text, password: 'short' });
  },
  'a page of the service': (page, origin, text) => page.goto(`${origin}/app?${encodeURIComponent(text)}`),
  'the place to sign out': (page, origin, text) =>
    page.goto(`${origin}/postern/signed-out?${new URLSearchParams({ provider: text })}`),
};

/** Scripts and handlers in a page, which are never more than its own files. */
const ownScripts = `[...document.querySelectorAll('script')].every(({ src, text }) =>
  text === '' && src.startsWith(location.origin + '/postern/assets/'))
  && ![...document.querySelectorAll('*')].some((one) => one.getAttributeNames().some((name) => name.startsWith('on')))
  && document.querySelectorAll('iframe, object, embed, base, style, [style], meta[http-equiv]').length === 0`;

async function startSite(t: Test): Promise<BrowserSite> {
  const stub = await startStubProvider(t);
  publish(stub, [], {});
  const throttle = { per_account_and_address: 1e6, per_account: 1e6, per_address: 1e6 };
  const config = {
    login_throttle: throttle,
    endpoints: { users: 'own' },
    identity_providers: { staff: { issuer: stub.origin, client_id: 'postern' } },
  };
  return startBrowserSite(t, { config });
}

t.test('nothing runs when the gateway shows them', async (t) => {
  const context = await openBrowser(t);
  if (context === null) return;
  const site = await startSite(t);
  const { page, watch } = await openWatched(context, site.origin);
  const policies = new Set<string>();
  page.on('response', (response) => {
    if (new URL(response.url()).pathname.startsWith('/postern/'))
      policies.add(response.headers()['content-security-policy'] ?? 'none');
  });

  for (const [turn, [name, visit]] of Object.entries(visits).entries())
    await t.test(name, async (t) => {
      for (const [index, text] of someMarkupTexts.entries()) {
        if (index % Object.keys(visits).length !== turn) continue;
        await visit(page, site.origin, text);
        t.ok(await page.evaluate(ownScripts), shownText(text));
        t.strictSame(await watch.taken(), [], shownText(text));
      }
    });

  await t.test('names of who is signed in', async (t) => {
    const { username, password } = administrator;
    const { accessToken: bearer } = await site.api.signIn(username, password);
    const path = '/api/admin/users/';
    const json = { username: 'eve', password };
    const { id } = (await site.api.send({ method: 'POST', path, bearer, json })).json;
    await page.goto(`${site.origin}/postern/sign-in`);
    await send(page, { username: 'eve', password, return_to: '/postern/' });
    let shown = 0;
    for (const [index, text] of someMarkupTexts.entries()) {
      if (index % 6 !== 0) continue;
      const names = { username: `${index}${text}`.slice(0, 100), display_name: text };
      const named = await site.api.send({ method: 'PATCH', path: path + id, bearer, json: names });
      if (named.status !== 200) continue;
      shown++;
      await page.goto(site.origin + (shown % 2 === 0 ? '/postern/' : '/postern/password'));
      t.ok(await page.evaluate(ownScripts), shownText(text));
      t.strictSame(await watch.taken(), [], shownText(text));
    }
    t.ok(shown > someMarkupTexts.length / 10, `${shown} may be names`);
  });

  t.same([...policies], [policy], 'one policy');
});
