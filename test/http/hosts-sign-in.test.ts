import { createHash } from 'node:crypto';
import t from 'tap';
import { administrator } from '../support/gateway/gateway.ts';
import {
  base,
  createHostBrowser,
  hiddenFields,
  hostCookieName,
  hostStartPrefix,
  leadsTo,
  notes,
  preview,
  startHostsGateway,
  wiki,
} from '../support/pages/hosts.ts';
import { forgets, navigation, ownForm, webCookieName } from '../support/pages/web.ts';

const area = (origin: string) => ({
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': origin === base ? 'noopener-allow-popups' : 'same-origin',
  'content-security-policy': /form-action 'self'/,
});
const hashOf = (value: string) => createHash('sha256').update(value).digest('base64url');

t.test('the way to a host, step by step', async (t) => {
  const gateway = await startHostsGateway(t);
  const browser = createHostBrowser(gateway);

  const asked = await browser.send(`${wiki}/page?x=1&y=%2F`);
  const startAt = '/postern/start?return_to=%2Fpage%3Fx%3D1%26y%3D%252F';
  t.match(asked, { status: 302, headers: { location: startAt }, setCookies: [] });

  const start = await browser.send(wiki + startAt);
  t.match(start, { status: 200, headers: area(wiki) });
  t.equal(start.setCookies.length, 1);
  const [, label = '', value = ''] =
    /^__Host-service_refresh_cookie_start_([\w-]{6})=([\w-]{43}); Max-Age=3600; Path=\/; HttpOnly; Secure; SameSite=Lax$/.exec(
      start.setCookies[0]!,
    ) ?? [];
  const hash = hashOf(value);
  t.equal(label, hash.slice(0, 6));
  const signInAt = leadsTo(start)!;
  t.equal(
    signInAt,
    `${base}/postern/sign-in?return_to=${encodeURIComponent(`${wiki}/page?x=1&y=%2F`)}&start=${hash}`,
  );
  t.match(start.text, `<a href="${signInAt.replaceAll('&', '&amp;')}" class="button`, 'and by a link');
  t.notMatch(start.text, value);

  const page = await browser.send(signInAt);
  t.match(page, {
    status: 200,
    setCookies: [],
    text: /Sign in to go on to <bdi>wiki\.acme\.example\.com<\/bdi>/,
  });
  t.strictSame(hiddenFields(page.text), { return_to: `${wiki}/page?x=1&y=%2F`, start: hash });

  const form = { ...hiddenFields(page.text), ...administrator };
  const signedIn = await browser.send(`${base}/postern/sign-in`, { form });
  t.match(signedIn, { status: 200, headers: area(base) });
  t.equal(new URL(leadsTo(signedIn)!, base).href, signInAt, 'once more');
  t.strictSame(
    signedIn.setCookies.map((cookie) => cookie.split('=', 1)[0]),
    [webCookieName],
  );
  t.notMatch(signedIn.text + JSON.stringify(signedIn.headers), 'code=');

  const led = await browser.send(signInAt);
  t.match(led, { status: 302, headers: { 'cache-control': 'no-store' }, setCookies: [], text: '' });
  const enterAt = led.headers.location!;
  t.match(enterAt, /^https:\/\/wiki\.acme\.example\.com\/postern\/enter\?code=[\w-]+$/);

  const entered = await browser.send(enterAt);
  t.match(entered, { status: 303, headers: { ...area(wiki), location: '/page?x=1&y=%2F' } });
  t.match(
    entered.setCookies[0],
    /^__Host-service_refresh_cookie_at=[^;]+; Max-Age=7776000; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
  );
  t.ok(forgets(entered, hostStartPrefix + label), 'the start is over');
  t.equal(entered.setCookies.length, 2);

  t.match(await browser.send(`${wiki}/page`), { status: 200, setCookies: [] });
  const seen = gateway.upstream.seen.at(-1)!;
  t.strictSame([...seen.values('x-auth-method'), ...seen.values('x-auth-username')], ['session', 'ada']);
});

t.test('further hosts are entered without a question', async (t) => {
  const browser = createHostBrowser(await startHostsGateway(t));
  t.match(await browser.signIn(`${wiki}/a`), { status: 200, url: `${wiki}/a` });
  for (const origin of [notes, preview]) {
    const shown = await browser.open(`${origin}/b?c=%20d#e`);
    t.match(shown, { status: 200, url: `${origin}/b?c=%20d` });
    t.strictSame(
      shown.via.map((url) => new URL(url).origin + new URL(url).pathname),
      [`${origin}/b`, `${origin}/postern/start`, `${base}/postern/sign-in`, `${origin}/postern/enter`],
    );
  }
  t.match(await browser.open(`${base}/app`), { status: 200, url: `${base}/app` }, 'nor is base_url');
  const values = [wiki, notes, preview].map((origin) => browser.cookiesAt(origin).get(hostCookieName));
  t.equal(new Set(values).size, 3);
});

t.test('two tabs, a page left open, and the way back', async (t) => {
  const gateway = await startHostsGateway(t);
  const { advance } = gateway;
  const browser = createHostBrowser(gateway);
  const [first, second] = [await browser.open(`${wiki}/1`), await browser.open(`${wiki}/2`)];
  const at = `${base}/postern/sign-in`;
  for (const [page, path] of [
    [second, '/2'],
    [first, '/1'],
  ] as const) {
    const form = { ...hiddenFields(page.text), ...administrator };
    t.match(await browser.open(at, { form }), { status: 200, url: wiki + path });
  }

  const left = await browser.open(`${notes}/later`);
  t.equal(left.url, `${notes}/later`, 'signed in');
  const other = createHostBrowser(gateway);
  const page = await other.open(`${notes}/later`);
  // The browser has forgotten the start cookie by now.
  advance(3_700_000);
  other.cookiesAt(notes).clear();
  const form = { ...hiddenFields(page.text), ...administrator };
  const shown = await other.open(at, { form });
  t.match(shown, { status: 200, url: `${notes}/later` });
  t.equal(shown.via.filter((url) => url.includes('/enter?')).length, 2, 'by another start');

  // Back to the sign-in page, with a host cookie of this session and no start.
  t.match(await other.open(page.url), { status: 200, url: `${notes}/later` });
});

t.test('where start leads', async (t) => {
  const gateway = await startHostsGateway(t);
  const { api } = gateway;
  const starts = async (query: string, host = 'wiki.acme.example.com') => {
    const response = await api.send({ path: `/postern/start${query}`, headers: { ...navigation, host } });
    t.equal(response.status, 200, query);
    return new URL(leadsTo(response)!).searchParams;
  };
  const to = (place: string) => `?return_to=${encodeURIComponent(place)}`;
  const rows: readonly [query: string, path: string][] = [
    ['', '/'],
    [to('/'), '/'],
    [to('/a?b=//c'), '/a?b=//c'],
    [to('/a/../b#c'), '/a/../b#c'],
    [to(`/${'x'.repeat(2_047)}`), `/${'x'.repeat(2_047)}`],
    [to(`/${'x'.repeat(2_048)}`), '/'],
    [to('//evil.example'), '/'],
    [to('https://evil.example/'), '/'],
    [to(`${notes}/`), '/'],
    [to('/\\evil.example'), '/'],
    [to('/.//evil.example'), '/'],
    [to('/a\tb'), '/'],
    [to('/postern/start'), '/'],
    [to('/postern'), '/'],
    [to('/a/../postern/enter?code=x'), '/'],
    [to('/%70ostern/enter'), '/'],
    [to('/posterns'), '/posterns'],
    [`${to('/a')}&return_to=%2Fa`, '/'],
    [to('/api/login/access-token'), '/api/login/access-token'],
  ];
  for (const [query, path] of rows) {
    const parameters = await starts(query);
    t.equal(parameters.get('return_to'), wiki + path, query);
    t.equal(parameters.get('again'), null);
  }
  t.equal((await starts('?again=1')).get('again'), '1');
  t.equal((await starts('', 'WIKI.acme.Example.com.:443')).get('return_to'), `${wiki}/`);
  t.equal((await starts('', 'pr-9_x.preview.acme.dev')).get('return_to'), 'https://pr-9_x.preview.acme.dev/');
});

t.test('a ninth start clears the oldest', async (t) => {
  const browser = createHostBrowser(await startHostsGateway(t));
  const names = () => [...browser.cookiesAt(wiki).keys()];
  for (let count = 0; count < 8; count++) await browser.send(`${wiki}/postern/start`);
  const [oldest, ...others] = names();
  t.equal(others.length, 7);
  const ninth = await browser.send(`${wiki}/postern/start`);
  t.equal(ninth.setCookies.length, 2);
  t.ok(forgets(ninth, oldest!));
  t.strictSame(names().slice(0, 7), others);
  t.equal(names().length, 8);
});

t.test('start and enter are neither loaded ahead nor asked for their head', async (t) => {
  const gateway = await startHostsGateway(t);
  const browser = createHostBrowser(gateway);
  await browser.signIn(`${wiki}/`);
  const start = await browser.send(`${notes}/postern/start`);
  const enterAt = (await browser.send(leadsTo(start)!)).headers.location!;
  for (const url of [`${notes}/postern/start`, enterAt]) {
    for (const purpose of ['prefetch', 'prefetch;prerender'])
      t.match(await browser.send(url, { headers: { ...navigation, 'sec-purpose': purpose } }), {
        status: 403,
        setCookies: [],
        headers: { 'content-type': /html/, 'referrer-policy': 'no-referrer' },
        text: /prefetch/,
      });
    t.match(await browser.send(url, { method: 'HEAD' }), { status: 405, setCookies: [] });
    t.match(await browser.send(url, { form: {} }), { status: 405, setCookies: [] });
  }
  t.match(await browser.send(enterAt), { status: 303 }, 'nothing was spent');
});

t.test('an ended session is no good code', async (t) => {
  const gateway = await startHostsGateway(t);
  const browser = createHostBrowser(gateway);
  await browser.signIn(`${wiki}/`);
  const start = await browser.send(`${notes}/postern/start`);
  const enterAt = (await browser.send(leadsTo(start)!)).headers.location!;
  t.match(await browser.send(`${base}/postern/sign-out`, { form: {} }), { status: 303 });
  t.match(await browser.send(enterAt), { status: 302, headers: { location: '/' }, setCookies: [] });
  t.match(await browser.open(`${wiki}/`), { url: /^https:\/\/acme\.example\.com\/postern\/sign-in/ });
});

t.test('without its cookies a browser is told so', async (t) => {
  const gateway = await startHostsGateway(t);
  const browser = createHostBrowser(gateway);
  await browser.signIn(`${wiki}/`);
  browser.cookiesAt(notes).set = () => browser.cookiesAt(notes);
  const shown = await browser.open(`${notes}/x`);
  t.match(shown, { status: 401, text: /cookies/, headers: { 'content-type': /html/ } });
  t.equal(shown.via.filter((url) => url.includes('/enter?')).length, 1);
  t.match(shown.url, /^https:\/\/notes\.example\.org\/postern\/enter/);
});

t.test('the sign-in page tells what a refused form did, with the host', async (t) => {
  const gateway = await startHostsGateway(t);
  const browser = createHostBrowser(gateway);
  const page = await browser.open(`${wiki}/deep?x=1`);
  const form = { ...hiddenFields(page.text), username: 'ada', password: 'wrong' };
  const wrong = await browser.send(`${base}/postern/sign-in`, { form });
  t.match(wrong, { status: 401, text: /go on to <bdi>wiki\.acme\.example\.com/ });
  t.strictSame(hiddenFields(wrong.text), hiddenFields(page.text));
  const again = { form: { ...hiddenFields(wrong.text), ...administrator } };
  t.match(await browser.open(`${base}/postern/sign-in`, again), { status: 200, url: `${wiki}/deep?x=1` });
});

t.test('nothing but a person who opens the page is led to a host', async (t) => {
  const gateway = await startHostsGateway(t);
  const browser = createHostBrowser(gateway);
  const at = leadsTo(await browser.send(`${wiki}/postern/start`))!;
  const fields = Object.fromEntries(new URL(at).searchParams) as Record<string, string>;
  const form = { ...fields, username: 'ada', password: 'wrong' };
  const script = { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' };
  const refused: Record<string, Record<string, string>> = {
    'a script of the origin': script,
    'a frame': { ...ownForm, 'sec-fetch-dest': 'iframe' },
    'an embedded object': { ...ownForm, 'sec-fetch-dest': 'object' },
    'a worker that hands a navigation on': { ...ownForm, 'sec-fetch-dest': 'empty' },
    'no browser': { accept: '*/*' },
    'another accept': { accept: 'text/html;q=0.5,application/json' },
  };
  for (const who of ['anyone', 'ada']) {
    for (const [name, headers] of Object.entries(refused)) {
      t.match(await browser.send(at, { headers }), { status: 403, setCookies: [] }, `${who}, ${name}`);
      const sent = await browser.send(`${base}/postern/sign-in`, { form, headers });
      t.match(sent, { status: 403, setCookies: [] }, `${who}, ${name}: the form, whose password is wrong`);
    }
    const early = { ...navigation, 'sec-purpose': 'prefetch' };
    t.match(await browser.send(at, { headers: early }), { status: 403, text: /prefetch/ });
    t.match(await browser.send(`${base}/postern/sign-in`, { form, headers: { ...early } }), {
      status: 403,
      text: /prefetch/,
    });
    t.match(await browser.send(at, { method: 'HEAD' }), { status: 403 });
    t.match(await browser.send(at, { headers: { accept: 'text/html' } }), {
      status: who === 'ada' ? 302 : 200,
    });
    if (who === 'anyone') await browser.signIn(`${base}/app`);
  }
  t.equal(
    gateway.logLines().filter(({ event }) => event === 'login_failed').length,
    0,
    'no password was looked at',
  );
});
