import t from 'tap';
import { activatedPage } from '../../src/web/pages/activate.ts';
import { invitationRedeemedPage } from '../../src/web/pages/invitation.ts';
import { signInPage } from '../../src/web/pages/sign-in.ts';
import type { Site } from '../../src/web/site.ts';
import { openBrowser } from '../support/pages/browser.ts';
import { createSite, servePages } from '../support/pages/page-server.ts';
import { directionProblems } from '../support/pages/text-directions.ts';

t.setTimeout(300_000);

const mark = 'evil';
const names = ['\u202eevil', '\u2067evil', '\u2069\u202eevil', 'evil\u2029\u202eevil', 'محمد evil'];

/** Pages that name the account in a sentence. */
const pagesOf: Readonly<Record<string, (site: Site, username: string) => string>> = {
  activated: (site, username) => activatedPage(site, { username }),
  invited: (site, username) => invitationRedeemedPage(site, { username }),
  'sign-in-again': (site, username) =>
    signInPage(site, { returnTo: '/', password: true, providers: [], signedInAs: username, problem: null }),
};

t.test('the name of an account turns nothing beside it', async (t) => {
  const context = await openBrowser(t);
  if (context === null) return;
  const pages = Object.entries(pagesOf).flatMap(([name, page]) =>
    names.map((username, index) => [`${name}-${index}`, (site: Site) => page(site, username)] as const),
  );
  const origin = await servePages(t, createSite(), Object.fromEntries(pages));
  const page = await context.newPage();
  for (const [name] of pages) {
    await page.goto(`${origin}/${name}`);
    t.match(await page.innerText('main'), mark, `${name}: it is there to be judged`);
    t.strictSame(await directionProblems(page, mark), [], name);
  }
});
