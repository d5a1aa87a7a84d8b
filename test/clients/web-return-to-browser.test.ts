import type { Page } from 'playwright-core';
import t from 'tap';
import { type ReturnToFamily, returnToFamilies } from '../support/corpora/return-to-values.ts';
import { shownText } from '../support/corpora/shown-text.ts';
import { administrator } from '../support/gateway/gateway.ts';
import { openBrowser } from '../support/pages/browser.ts';
import { startBrowserSite } from '../support/pages/browser-site.ts';

t.setTimeout(600_000);

const home = '/home';
const path = '/postern/sign-in';

/** One of each family, of every fourth two; `test/http/web-return-to.test.ts` signs in with all of them. */
const sampleOf = ({ values }: ReturnToFamily, index: number) =>
  index % 4 === 0 ? [values[0]!, values.at(-1)!] : [values[0]!];

/** Sends the form with that value, whatever the page has made of it. */
async function signInWith(page: Page, value: string): Promise<void> {
  const { username, password } = administrator;
  await page.evaluate(
    `((value) => {
      const form = document.querySelector('form[action="${path}"]');
      for (const input of form.querySelectorAll('[name=return_to]')) input.remove();
      const input = document.createElement('textarea');
      Object.assign(input, { name: 'return_to', value, hidden: true });
      form.append(input);
      form.username.value = ${JSON.stringify(username)};
      form.password.value = ${JSON.stringify(password)};
    })(${JSON.stringify(value)})`,
  );
  await Promise.all([page.waitForEvent('framenavigated'), page.click('main button[type=submit]')]);
  await page.waitForLoadState();
}

t.test('a browser is never led away from base_url', async (t) => {
  const context = await openBrowser(t);
  if (context === null) return;
  const { api, upstream, origin } = await startBrowserSite(t, {
    config: { web: { home }, endpoints: { users: 'own' } },
  });
  const requested: string[] = [];
  context.on('request', (request) => requested.push(request.url()));
  const page = await context.newPage();
  page.on('dialog', (dialog) => t.fail(`a dialog: ${dialog.message()}`));

  for (const [index, family] of returnToFamilies.entries())
    await t.test(family.name, async (t) => {
      for (const value of sampleOf(family, index)) {
        const shown = shownText(value);
        await context.clearCookies();
        requested.length = 0;
        const link = `${origin}${path}?return_to=${encodeURIComponent(value)}`;
        // Longer addresses are refused before they are read.
        await page.goto(link.length < 8_000 ? link : origin + path);
        await signInWith(page, value);
        const arrived = new URL(page.url());
        t.equal(arrived.origin, origin, shown);
        t.equal(arrived.pathname === home, family.leads === 'home', `${shown} led to ${arrived.pathname}`);
        if (link.length < 8_000) {
          await page.goto(link);
          t.equal(page.url(), arrived.href, `${shown}, signed in already`);
        }
        t.same(
          requested.filter((url) => new URL(url).origin !== origin),
          [],
          shown,
        );
      }
    });
  await t.test('and reads each address it is sent to as one of base_url', async (t) => {
    const locations: string[] = [];
    for (const returnTo of returnToFamilies.flatMap(({ values }) => values)) {
      const form = { ...administrator, return_to: returnTo };
      const { headers } = await api.send({ method: 'POST', path, form });
      locations.push(headers.location ?? 'none://');
    }
    await page.goto(origin + path);
    const origins = await page.evaluate(
      `${JSON.stringify(locations)}.map((location) => new URL(location, document.baseURI).origin)`,
    );
    t.same(
      origins,
      locations.map(() => origin),
    );
  });
  t.ok(upstream.seen.every(({ target }) => !target.startsWith('/api/')));
});
