import t from 'tap';
import { areaOf } from '../../src/rules/own-areas.ts';
import { returnToFamilies } from '../support/corpora/return-to-values.ts';
import { shownText } from '../support/corpora/shown-text.ts';
import { administrator } from '../support/gateway/gateway.ts';
import { isLong } from '../support/gateway/gateway-under-load.ts';
import { navigation, ownForm, startWebGateway } from '../support/pages/web.ts';

t.setTimeout(120_000);

const origin = 'https://acme.example.com';
const home = '/app/start';
/** A longer address is refused before it is read. */
const maxQueryLength = 7_000;

/** Where a browser on the sign-in page goes. */
const resolved = (location: string | undefined) => new URL(location!, `${origin}/postern/sign-in`);

t.test('no value of return_to leads a sign-in away', async (t) => {
  const { open, signIn, submit, upstream } = await startWebGateway(t, { web: { home } });
  const cookie = await signIn();

  for (const { name, leads, values } of returnToFamilies)
    await t.test(name, async (t) => {
      // One in three of them in the default size: unit/return-to has all.
      for (const value of values.filter((_, index) => isLong || index % 3 === 0)) {
        const shown = shownText(value);
        const signedIn = await submit('/postern/sign-in', { ...administrator, return_to: value });
        t.equal(signedIn.status, 303, shown);
        const { location } = signedIn.headers;
        t.equal(location === home, leads === 'home', shown);
        t.equal(resolved(location).origin, origin, shown);

        // Who is signed in already is led on by the same rule.
        const query = encodeURIComponent(value);
        if (query.length > maxQueryLength) continue;
        const ledOn = await open(`/postern/sign-in?return_to=${query}`, cookie);
        t.match(ledOn, { status: 303, headers: { location } }, shown);
        if (leads === 'home') continue;

        const { pathname, search } = resolved(location);
        const arrived = await open(pathname + search, cookie);
        if (arrived.status >= 300 && arrived.status < 400)
          t.equal(resolved(arrived.headers.location).origin, origin, `${shown}, and on`);
        t.same(arrived.setCookies, [], `${shown} changes nothing here`);
      }
    });

  t.equal((await open('/app', cookie)).status, 200, 'the session is still alive');
  for (const { target } of upstream.seen)
    t.equal(areaOf(target, ['/postern']), undefined, 'no page was forwarded');
});

t.test('a form that says several things, or says them oddly, leads home or is refused', async (t) => {
  const { api } = await startWebGateway(t, { web: { home } });
  const { username, password } = administrator;
  const good = `username=${username}&password=${encodeURIComponent(password)}`;
  const type = 'application/x-www-form-urlencoded';
  const rows: readonly [sentence: string, type: string, body: string, status: number, location?: string][] = [
    ['two places', type, `${good}&return_to=/app&return_to=//evil.example`, 422],
    ['one place twice', type, `${good}&return_to=/app&return_to=/app`, 422],
    ['a blank one', type, `${good}&return_to=`, 303, home],
    ['another name', type, `${good}&Return_To=//evil.example&return_to[]=//evil.example`, 303, home],
    ['an overlong slash', type, `${good}&return_to=/%c0%afevil.example`, 422],
    ['half a character', type, `${good}&return_to=/%e2%98evil.example`, 422],
    ['UTF-7', `${type}; charset=utf-7`, `${good}&return_to=+AC8-+AC8-evil.example`, 422],
    ['a broken escape', type, `${good}&return_to=%/%/evil.example`, 303, home],
    ['a semicolon between fields', type, `${good};return_to=//evil.example`, 401],
    ['plain text', 'text/plain', `${good}&return_to=//evil.example`, 422],
    ['several parts', 'multipart/form-data; boundary=x', '--x--\r\n', 422],
  ];
  for (const [sentence, contentType, body, status, location] of rows) {
    const headers = { ...ownForm, 'content-type': contentType };
    const response = await api.send({ method: 'POST', path: '/postern/sign-in', headers, body });
    t.equal(response.status, status, sentence);
    t.equal(response.headers.location, location, sentence);
    t.equal(response.headers.refresh, undefined, sentence);
  }
  const path = '/postern/sign-in?return_to=//evil.example';
  const page = await api.send({ path, headers: navigation });
  t.notMatch(page.text, 'evil.example', 'a page carries on only what leads here');
});
