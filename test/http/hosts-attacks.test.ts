import { createHash, randomBytes } from 'node:crypto';
import t from 'tap';
import { administrator } from '../support/gateway/gateway.ts';
import {
  base,
  createHostBrowser,
  type HostBrowser,
  hostCookieName,
  hostStartPrefix,
  leadsTo,
  notes,
  preview,
  startHostsGateway,
  wiki,
} from '../support/pages/hosts.ts';
import { navigation, ownForm, webCookieName } from '../support/pages/web.ts';

t.setTimeout(120_000);

const script = { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' };
const hashOf = (value: string) => createHash('sha256').update(value).digest('base64url');
const home = { status: 302, headers: { location: '/' }, setCookies: [] };

/** The address with a code to which a signed-in browser is led from a start at an origin. */
async function codeFor(browser: HostBrowser, origin: string, path = '/'): Promise<string> {
  const start = await browser.send(`${origin}/postern/start?return_to=${encodeURIComponent(path)}`);
  return (await browser.send(leadsTo(start)!)).headers.location!;
}

/** The address of the sign-in page towards a place, with a start of one's own. */
const signInAt = (place: string, start: string) =>
  `${base}/postern/sign-in?return_to=${encodeURIComponent(place)}&start=${start}`;

t.test('a code is good once', async (t) => {
  const browser = createHostBrowser(await startHostsGateway(t));
  await browser.signIn(`${wiki}/`);
  const enterAt = await codeFor(browser, notes, '/x');
  const many = await Promise.all(Array.from({ length: 8 }, () => browser.send(enterAt)));
  t.strictSame(many.map(({ status }) => status).sort(), [302, 302, 302, 302, 302, 302, 302, 303]);
  t.equal(many.flatMap(({ setCookies }) => setCookies).length, 2, 'one cookie, and the end of its start');
  t.match(await browser.send(enterAt), home, 'nor for whom it was, again');
});

t.test('a code is good for a minute', async (t) => {
  const gateway = await startHostsGateway(t);
  const browser = createHostBrowser(gateway);
  await browser.signIn(`${wiki}/`);
  const [first, second] = [await codeFor(browser, notes), await codeFor(browser, notes)];
  gateway.advance(59_000);
  t.match(await browser.send(first), { status: 303 });
  gateway.advance(2_000);
  t.match(await browser.send(second), home);
});

t.test('a code is good at its own host alone, and is spent at any', async (t) => {
  const browser = createHostBrowser(await startHostsGateway(t));
  await browser.signIn(`${wiki}/`);
  for (const origin of [wiki, preview, 'https://pr-8.preview.acme.dev']) {
    const enterAt = await codeFor(browser, notes);
    t.match(await browser.send(enterAt.replace(notes, origin)), home, origin);
    t.match(await browser.send(enterAt), home, `spent at ${origin}`);
  }
});

t.test('a code is good in the browser alone that began', async (t) => {
  const gateway = await startHostsGateway(t);
  const [ada, mallory] = [createHostBrowser(gateway), createHostBrowser(gateway)];
  await ada.signIn(`${wiki}/`);

  // A code that was read on its way, in a browser without the start, or with a start of its own.
  await mallory.send(`${notes}/postern/start`);
  const stolen = await codeFor(ada, notes, '/x');
  const led = await mallory.send(stolen);
  t.match(led, {
    status: 302,
    headers: { location: '/postern/start?return_to=%2Fx&again=1' },
    setCookies: [],
  });
  t.match(await ada.send(stolen), home, 'and is spent');

  // Someone who wants another person to work as the attacker: they go on as themselves.
  const given = await codeFor(ada, notes, '/x');
  t.match(await mallory.open(given), { status: 200, url: /^https:\/\/acme\.example\.com\/postern\/sign-in/ });
  t.notOk(mallory.cookiesAt(notes).has(hostCookieName));

  // A browser whose start was planted with the name of another: the value decides.
  const plants: Readonly<Record<string, (value: string) => string>> = {
    nothing: () => '',
    'a text of the length': () => 'x'.repeat(43),
    'another value': () => randomBytes(32).toString('base64url'),
    'the value in quotation marks': (value) => `"${value}"`,
    'the hash': hashOf,
  };
  for (const [what, plant] of Object.entries(plants)) {
    const enterAt = await codeFor(ada, preview);
    const [name, value] = [...ada.cookiesAt(preview)].at(-1)!;
    t.ok(name.startsWith(hostStartPrefix));
    const planted = createHostBrowser(gateway);
    planted.cookiesAt(preview).set(name, plant(value));
    const begun = { status: 302, headers: { location: /^\/postern\/start\?.*&again=1$/ }, setCookies: [] };
    t.match(await planted.send(enterAt), begun, what);
  }
});

t.test('a script at base_url that has a start of its own is led to no code', async (t) => {
  const gateway = await startHostsGateway(t);
  const browser = createHostBrowser(gateway);
  await browser.signIn(`${wiki}/`);
  const value = randomBytes(32).toString('base64url');
  const at = signInAt(`${notes}/x`, hashOf(value));
  const embedded: Record<string, string>[] = [
    'iframe',
    'frame',
    'object',
    'embed',
    'empty',
    'image',
    'script',
  ].map((dest) => ({ ...ownForm, 'sec-fetch-dest': dest }));
  const tries = [
    script,
    { ...script, 'sec-fetch-mode': 'no-cors' },
    { ...script, accept: 'text/html' },
    ...embedded,
  ];
  for (const headers of tries)
    for (const form of [undefined, { ...Object.fromEntries(new URL(at).searchParams), ...administrator }]) {
      const response = await browser.send(at, { headers, ...(form && { form }) });
      t.match(response, {
        status: 403,
        headers: { location: undefined, refresh: undefined },
        setCookies: [],
      });
      t.notMatch(response.text, 'code=');
    }
  for (const purpose of ['prefetch', 'prefetch;prerender', 'prefetch;anonymous-client-ip'])
    t.match(await browser.send(at, { headers: { ...navigation, 'sec-purpose': purpose } }), {
      status: 403,
      headers: { location: undefined },
    });

  // A window that the script opens: the code is for the host alone, and spent there, whatever its pages read afterwards.
  const led = await browser.send(at);
  t.match(led, { status: 302, text: '', headers: { 'content-security-policy': /default-src 'none'/ } });
  const enterAt = led.headers.location!;
  t.match(await browser.send(enterAt), {
    status: 302,
    headers: { location: /^\/postern\/start\?/ },
    setCookies: [],
  });
  const elsewhere = createHostBrowser(gateway);
  elsewhere.cookiesAt(notes).set(hostStartPrefix + hashOf(value).slice(0, 6), value);
  t.match(await elsewhere.send(enterAt), home, 'in the browser of the attacker it is worth nothing');
});

t.test('cookies that are too large for enter leave nothing to read', async (t) => {
  const gateway = await startHostsGateway(t);
  const browser = createHostBrowser(gateway);
  await browser.signIn(`${wiki}/`);
  const enterAt = await codeFor(browser, notes);
  const jar = browser.cookiesAt(notes);
  for (let count = 0; count < 20; count++) jar.set(`big${count}`, 'x'.repeat(4_000));
  const refused = await browser.send(enterAt);
  t.match(refused, {
    status: 431,
    headers: {
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'content-security-policy': /default-src 'none'.*frame-ancestors 'none'/,
      'cache-control': 'no-store',
    },
  });
  t.notMatch(refused.text, new URL(enterAt).search.slice(6));
  for (const name of jar.keys()) if (name.startsWith('big')) jar.delete(name);
  t.match(await browser.send(enterAt), home, 'not even a code: Firefox tells scripts the address after Back');
});

t.test('the cookie of a host is worth nothing anywhere else', async (t) => {
  const gateway = await startHostsGateway(t);
  const { api } = gateway;
  const browser = createHostBrowser(gateway);
  await browser.signIn(`${wiki}/`);
  await browser.open(`${notes}/`);
  const value = browser.cookiesAt(wiki).get(hostCookieName)!;
  const names = [hostCookieName, webCookieName, 'service_refresh_cookie', 'service_refresh_cookie_at'];
  const places: readonly [host: string, method: string, path: string, alive: number][] = [
    [notes, 'GET', '/', 200],
    [preview, 'GET', '/', 200],
    [base, 'GET', '/app', 200],
    [base, 'GET', '/postern/', 200],
    [
      base,
      'GET',
      `/postern/sign-in?return_to=${encodeURIComponent(`${notes}/`)}&start=${'x'.repeat(43)}`,
      302,
    ],
    [base, 'GET', '/api/self/', 200],
    [base, 'GET', '/api/admin/api-keys/', 200],
    [base, 'POST', '/api/login/refresh-token', 200],
    ['https://unnamed.example', 'GET', '/app', 200],
  ];
  for (const [origin, method, path, alive] of places)
    for (const name of names) {
      const headers = { ...navigation, host: new URL(origin).host };
      const response = await api.send({ method, path, headers, cookie: `${name}=${value}` });
      const isIn = response.status === alive && !String(response.headers.location ?? '').includes('/sign-in');
      const isLed =
        /postern\/(?:sign-in|start)/.test(response.headers.location ?? '') ||
        /name="password"/.test(response.text);
      t.ok(!isIn || isLed, `${origin} ${path} ${name}: ${response.status}`);
      t.notMatch(response.headers.location ?? '', 'code=');
    }
  const web = browser.cookiesAt(base).get(webCookieName)!;
  for (const name of names) {
    const headers = { ...navigation, host: 'wiki.acme.example.com' };
    t.match(
      await api.send({ path: '/', headers, cookie: `${name}=${web}` }),
      { status: 302 },
      `${name} at wiki`,
    );
  }
  t.match(
    await browser.send(`${wiki}/programs`, { headers: script }),
    { status: 401 },
    'nor on a route of programs',
  );
  const seen = gateway.upstream.seen.length;
  t.match(await browser.send(`${wiki}/`), { status: 200 }, 'it is alive');
  t.notMatch(
    gateway.upstream.seen.slice(seen)[0]?.rawHeaders.join('\n') ?? '',
    value,
    'and goes to no service',
  );
  const post = (origin: string) =>
    browser.send(`${wiki}/`, { form: {}, headers: { ...ownForm, 'sec-fetch-site': 'same-site', origin } });
  for (const origin of [base, notes, 'https://pr-7.preview.acme.dev', 'null'])
    t.match(await post(origin), { status: 403 }, `a form of ${origin}`);
});

t.test('the console’s own host leads to no other', async (t) => {
  const console = 'https://console.acme.example.com';
  const gateway = await startHostsGateway(t, { web: { console: { base_url: console } } });
  const browser = createHostBrowser(gateway);
  const at = signInAt(`${wiki}/`, 'x'.repeat(43)).replace(base, console);
  const page = await browser.send(at);
  t.match(page, { status: 200 });
  t.notMatch(page.text, 'wiki');
  const form = { ...Object.fromEntries(new URL(at).searchParams), ...administrator };
  const signedIn = await browser.send(`${console}/postern/sign-in`, { form });
  t.match(signedIn, { status: 303, headers: { location: '/postern/' } });
  t.match(await browser.send(at), { status: 303, headers: { location: '/postern/' } });
});

t.test('a page of cors.origins reads nothing of the way in, and can plant no start', async (t) => {
  const origin = 'https://front.acme.example.com';
  const gateway = await startHostsGateway(t, { cors: { origins: [origin] } });
  const browser = createHostBrowser(gateway);
  const headers = {
    origin,
    'sec-fetch-site': 'same-site',
    'sec-fetch-mode': 'cors',
    'sec-fetch-dest': 'empty',
  };
  for (const path of ['start', 'enter?code=x', 'sign-out', 'x']) {
    const asked = await browser.send(`${wiki}/postern/${path}`, { headers });
    t.notOk(asked.headers['access-control-allow-origin'], path);
    const preflight = { ...headers, 'access-control-request-method': 'GET' };
    const answer = await browser.send(`${wiki}/postern/${path}`, { method: 'OPTIONS', headers: preflight });
    t.notOk(answer.headers['access-control-allow-origin'], `a preflight of ${path}`);
  }
  const service = await browser.send(`${wiki}/x`, { headers });
  t.equal(service.headers['access-control-allow-origin'], origin, 'a service’s answers are as ever');
});

t.test('nor at the console’s own host, by whatever header it is named', async (t) => {
  const origin = 'https://front.acme.example.com';
  const console = 'console.acme.example.com';
  const { api } = await startHostsGateway(t, {
    cors: { origins: [origin] },
    trusted_proxies: ['127.0.0.1'],
    web: { console: { base_url: `https://${console}` } },
  });
  const rows: readonly [headers: Record<string, string>, allowed: string | undefined][] = [
    [{ host: new URL(base).host }, origin],
    [{ host: console }, undefined],
    [{ host: 'postern.internal', 'x-forwarded-host': console }, undefined],
    [{ host: 'postern.internal', 'x-forwarded-host': new URL(base).host }, origin],
  ];
  for (const [named, allowed] of rows)
    for (const method of ['GET', 'OPTIONS']) {
      const headers = { ...named, origin, 'access-control-request-method': 'GET' };
      const answer = await api.send({ method, path: '/api/admin/api-keys/', headers });
      t.equal(answer.headers['access-control-allow-origin'], allowed, `${method} ${JSON.stringify(named)}`);
    }
});
