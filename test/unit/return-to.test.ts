import t from 'tap';
import { areaOf, createMayBeRead, ownAreas } from '../../src/rules/own-areas.ts';
import { isReturnTo } from '../../src/rules/return-to.ts';
import { returnToOf as returnToIn } from '../../src/web/host-destination.ts';
import { destination, signInPath } from '../../src/web/return-to.ts';
import { returnToFamilies } from '../support/corpora/return-to-values.ts';
import { shownText } from '../support/corpora/shown-text.ts';
import { createSite } from '../support/pages/page-server.ts';

const path = '/postern';
const home = '/app/start';
const areas = ownAreas(() => false, { apiPath: '/api', webPath: path });
const area = {
  homeAt: () => home,
  isPagePath: (target: string) => areaOf(target, [path]) !== undefined,
  mayBeOwnPath: createMayBeRead(areas),
};
const noHosts = { findByOrigin: null, isConsoleHost: () => false, mayBeHostPage: createMayBeRead([path]) };
const returnToOf = (query: string) =>
  returnToIn(noHosts, { host: 'acme.example.com', query }) as string | null;
const leadsTo = (returnTo: string | null) => destination(area, 'acme.example.com', returnTo);
/** Of the gateway, and one of each scheme: a browser reads addresses by its page's. */
const origins = ['https://acme.example.com', 'http://acme.example.com', 'http://127.0.0.1:8080'];

t.test('no value is there twice, and there are enough of them', async (t) => {
  const values = returnToFamilies.flatMap((family) => family.values);
  t.equal(new Set(values).size, values.length);
  t.ok(values.length >= 300, `${values.length}`);
});

for (const { name, leads, values } of returnToFamilies)
  t.test(`${name}: leads to ${leads === 'home' ? 'web.home' : 'a path of this origin'}`, async (t) => {
    for (const value of values) {
      const location = leadsTo(value);
      const shown = shownText(value);
      t.equal(location === home, leads === 'home', shown);
      for (const origin of origins)
        t.equal(new URL(location, `${origin}/postern/sign-in`).origin, origin, shown);
      // Printable ASCII alone, so that no reader of the header has anything to repair.
      t.match(location, /^\/(?:[!-[\]-~]*)$/, shown);
      t.notMatch(location, /^\/[/\\]/, shown);
      const { pathname } = new URL(location, origins[0]);
      t.notOk(
        areaOf(pathname, areas) !== undefined && !area.isPagePath(pathname),
        `${shown} is no area of the API`,
      );
    }
  });

t.test('a query leads on only if it names one place', async (t) => {
  const query = (...values: string[]) =>
    values.map((value) => `return_to=${encodeURIComponent(value)}`).join('&');
  t.equal(returnToOf(query('/app')), '/app');
  t.equal(returnToOf(query('/app', '/app')), null);
  t.equal(returnToOf(query('/app', '//evil.example')), null);
  t.equal(returnToOf('return_to=/a%00b'), null);
  t.equal(returnToOf('Return_To=/app&return_to[]=/app&return_to%00=/app'), null);
  for (const { leads, values } of returnToFamilies)
    for (const value of values) {
      const found = returnToOf(query(value));
      if (found !== null) t.ok(isReturnTo(found));
      if (leads === 'here') t.equal(leadsTo(found), leadsTo(value), shownText(value));
    }
});

t.test('the maximum length counts bytes', async (t) => {
  const han = '\u5b57';
  t.ok(isReturnTo(`/${'x'.repeat(2047)}`));
  t.notOk(isReturnTo(`/${'x'.repeat(2048)}`));
  t.ok(isReturnTo(`/${han.repeat(682)}`));
  t.notOk(isReturnTo(`/${han.repeat(683)}`));
});

t.test('the address of the sign-in page holds no other address than a path', async (t) => {
  for (const { values } of returnToFamilies)
    for (const value of values) {
      const address = new URL(signInPath(createSite().site.signIn, value, '//'), origins[0]);
      t.equal(address.origin, origins[0]);
      t.equal(address.pathname, '/postern/sign-in');
      const back = address.searchParams.get('return_to');
      if (back !== null) t.equal(new URL(leadsTo(back), origins[0]).origin, origins[0]);
    }
});
