import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { eventually } from '../support/gateway/forwarding.ts';
import { isLong } from '../support/gateway/gateway-under-load.ts';
import {
  assertStillSignedIn,
  type OtherSites,
  responsesFrom,
  startOtherSites,
} from '../support/pages/other-sites.ts';

t.setTimeout(600_000);

/** Links of other sites lead here, as the user who follows them; there is nothing to do by GET. */
const followed: Readonly<Record<string, number>> = {
  '/postern/': 200,
  '/postern/sign-in': 303,
  '/postern/sign-out': 200,
  '/postern/password': 200,
  '/postern/activate': 409,
  '/postern/invitation': 200,
  '/app': 200,
  '/api/logout': 401,
};

/** What they send is refused: the neighbour's with the cookie, a stranger's comes without it. */
const refused: Readonly<Record<string, readonly number[]>> = {
  '/postern/': [405],
  '/postern/sign-in': [403],
  '/postern/sign-out': [403],
  '/postern/password': [403],
  '/postern/activate': [403],
  '/postern/invitation': [403],
  '/app': [403, 401],
  '/api/login/access-token': [403],
};

const mattersMost = ['/postern/sign-in', '/postern/sign-out', '/app'];

/** The first way leads to every path, the others to those that matter most, in the default size one after the other. */
function pathsOf(paths: object, turn: number): string[] {
  const others = isLong ? mattersMost : [mattersMost[turn % mattersMost.length]!];
  return Object.keys(paths).filter((path) => turn === 0 || others.includes(path));
}

/** Lets a page of that origin lead on by `way`, and waits for the response; gives every tab that is open then. */
async function lead(
  { context, site }: OtherSites,
  origin: string,
  way: string,
  path: string,
): Promise<{ readonly responses: string[]; readonly opened: Page[]; readonly first: Page }> {
  const first = await context.newPage();
  await first.goto(origin);
  const line = site.logLines().length;
  // The page may be gone before it could say that it is done.
  first.evaluate(`void (window.opened = ${way}(${JSON.stringify(site.origin + path)}))`).catch(() => {});
  const found = () => responsesFrom(site, line).filter((response) => response.split(' ')[1] === path);
  await eventually(() => found().length > 0);
  const isHere = (url: string) => url.startsWith(site.origin) || url.startsWith('chrome-error:');
  const tabs = () => context.pages().slice(1);
  // The response is there before the browser shows it.
  await eventually(() => tabs().some((tab) => tab.frames().some((frame) => isHere(frame.url()))));
  const opened = tabs();
  await Promise.all(opened.map((page) => page.waitForLoadState()));
  return { responses: found(), opened, first };
}

/** What the page that opened a window of ours sees of it. */
const seenOfWindow = `(() => {
  const tried = (look) => { try { return String(look()); } catch (error) { return error.name; } };
  return { closed: tried(() => opened.closed), frames: tried(() => opened.length),
    document: tried(() => opened.document.body), address: tried(() => opened.location.href) };
})()`;

for (const from of ['neighbour', 'stranger'] as const)
  t.test(`where a ${from} leads to`, async (t) => {
    const stage = await startOtherSites(t, 'other-site-leaves.js');
    if (stage === null) return;
    const { page, site } = stage;
    const origin = stage[from];
    const namesOf = (list: string) => page.evaluate<string[]>(`Object.keys(${list})`);
    await page.goto(origin);
    const [links, forms] = [await namesOf('links'), await namesOf('forms')];

    const attempt = async (t: Test, way: string, path: string, statuses: readonly string[]) => {
      const seenBefore = site.upstream.seen.length;
      const { responses, opened } = await lead(stage, origin, way, path);
      for (const response of responses) t.ok(statuses.includes(response), response);
      const seen = site.upstream.seen
        .slice(seenBefore)
        .map(({ method, target }) => `${method} ${target}`)
        // A browser asks for it beside whatever it shows.
        .filter((request) => request !== 'GET /favicon.ico');
      // A form sends its fields in a query, and this one has none. The sign-in page leads on to the start of the service.
      for (const request of seen)
        t.match(request, /^GET \/(?:app)?\??$/, 'the service sees no more than a link that is followed');
      await Promise.all(opened.map((tab) => tab.close()));
      return { responses, seen };
    };

    for (const [turn, name] of links.entries())
      await t.test(`${name} leads here`, async (t) => {
        for (const path of pathsOf(followed, turn))
          await attempt(t, `links[${JSON.stringify(name)}]`, path, [`GET ${path} ${followed[path]}`]);
        await assertStillSignedIn(t, stage);
      });

    for (const [turn, name] of forms.entries())
      await t.test(`${name} of another site is refused`, async (t) => {
        for (const path of pathsOf(refused, turn)) {
          const expected = refused[path]!.map((status) => `POST ${path} ${status}`);
          const { seen } = await attempt(t, `forms[${JSON.stringify(name)}]`, path, expected);
          t.same(seen, []);
        }
        await assertStillSignedIn(t, stage);
      });

    await t.test('a window of ours does not know who opened it, who sees nothing of it', async (t) => {
      for (const path of [
        '/postern/',
        '/postern/sign-out',
        '/postern/password',
        '/postern/invitation',
        '/postern/none',
      ]) {
        const { opened, first } = await lead(stage, origin, `links['a window']`, path);
        const ours = opened.find((tab) => tab !== first)!;
        t.equal(await ours.evaluate('window.opener'), null, path);
        // The opener learns of it a moment after the page is there.
        await first.waitForFunction('opened.closed');
        t.same(
          await first.evaluate(seenOfWindow),
          { closed: 'true', frames: '0', document: 'SecurityError', address: 'SecurityError' },
          path,
        );
        await Promise.all(opened.map((tab) => tab.close()));
      }
    });
    t.equal(site.sockets.accepted.length, 0);
  });
