import t, { type Test } from 'tap';
import { userPassword, usersPath } from '../support/administration/user-administration.ts';
import { exchangeRaw } from '../support/clients/raw-client.ts';
import { administrator } from '../support/gateway/gateway.ts';
import {
  base,
  createHostBrowser,
  hostCookieName,
  hostStartPrefix,
  notes,
  startHostsGateway,
  wiki,
} from '../support/pages/hosts.ts';
import { forgets, navigation, ownForm, webCookieName } from '../support/pages/web.ts';

const script = { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' };
const ofHosts = {
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'content-security-policy': /default-src 'none'/,
};
const consoleOrigin = 'https://console.acme.example.com';
const start = (t: Test) => startHostsGateway(t, { web: { console: { base_url: consoleOrigin } } });

/** A page of a named host tells no other origin of ours. */
function tellsNoOther(t: Test, text: string, what: string): void {
  for (const origin of [base, consoleOrigin])
    t.notOk(text.includes(`//${new URL(origin).host}`), `${what}: ${origin}`);
}

t.test('a request without a session is led to start, or told of it', async (t) => {
  const browser = createHostBrowser(await start(t));
  const rows: readonly [target: string, location: string][] = [
    ['/', '/postern/start?return_to=%2F'],
    ['/a/b?c=d', '/postern/start?return_to=%2Fa%2Fb%3Fc%3Dd'],
    [`/a?${'q'.repeat(2_050)}`, '/postern/start?return_to=%2Fa'],
    [`/${'p'.repeat(2_050)}`, '/postern/start'],
  ];
  for (const [target, location] of rows)
    for (const method of ['GET', 'HEAD'])
      t.match(
        await browser.send(wiki + target, { method }),
        { status: 302, headers: { location, 'cache-control': 'no-store' }, setCookies: [] },
        `${method} ${target.slice(0, 20)}`,
      );
  t.match(await browser.send(`${wiki}/a`, { headers: script }), {
    status: 401,
    json: { code: 'not_authenticated', sign_in: '/postern/start' },
    headers: { 'www-authenticate': /^Bearer realm/ },
  });
  const headers = { ...ownForm, origin: wiki, referer: `${wiki}/edit?page=1` };
  const form = await browser.send(`${wiki}/save`, { form: { text: 'x' }, headers });
  t.match(form, {
    status: 401,
    text: 'href="/postern/start?return_to=%2Fedit%3Fpage%3D1"',
    headers: ofHosts,
  });
  tellsNoOther(t, form.text, 'the page');
  const program = await browser.send(`${wiki}/programs`, { headers: script });
  t.match(program, { status: 401 });
  t.notOk('sign_in' in program.json, 'no person is meant');
});

t.test('a named host has its own pages alone', async (t) => {
  const gateway = await start(t);
  const browser = createHostBrowser(gateway);
  const nothing = [
    '',
    '/',
    '/sign-in',
    '/sign-in/staff',
    '/callback/staff',
    '/console/',
    '/password',
    '/activate',
    '/invitation',
    '/openapi.json',
    '/assets/none.js',
    '/start/x',
  ];
  for (const path of nothing) {
    const page = await browser.send(`${wiki}/postern${path}`);
    t.match(page, { status: 404, headers: ofHosts, setCookies: [] }, path);
    tellsNoOther(t, page.text, path);
    t.match(page.text, '<a href="/" class="button', path);
  }
  for (const path of ['/START', '/%73tart', '/start%2f'])
    t.ok([400, 404].includes((await browser.send(`${wiki}/postern${path}`)).status), path);
  const page = await browser.send(`${wiki}/postern/signed-out`);
  t.match(page, { status: 200, headers: ofHosts, text: 'href="/postern/start"' });
  tellsNoOther(t, page.text, 'signed-out');
  const [, file = ''] = /<link rel="stylesheet" href="([^"]+)"/.exec(page.text)!;
  t.match(await browser.send(wiki + file, { headers: script }), {
    status: 200,
    headers: { ...ofHosts, 'cache-control': /immutable/ },
  });
  t.match(await browser.send(`${base}/postern/start`), { status: 404 }, 'nor has base_url theirs');
  t.match(await browser.send(`${base}/postern/enter?code=x`), { status: 404 });
  await gateway.reload({
    hosts: [notes],
    web: {},
    routes: [{ prefix: '/app', upstream: 'app', browser: true }],
  });
  t.match(await browser.send(`${notes}/`), { status: 404, headers: { location: undefined } });
});

t.test('what can not be read has the headers of the host, too', async (t) => {
  const gateway = await start(t);
  const area = '/postern/enter?code=x';
  const rows: readonly [what: string, status: string, request: string][] = [
    [
      'too long a target',
      '414',
      `GET ${area}${'x'.repeat(9_000)} HTTP/1.1\r\nHost: wiki.acme.example.com\r\n`,
    ],
    [
      'too many cookies',
      '431',
      `GET ${area} HTTP/1.1\r\nHost: wiki.acme.example.com\r\nCookie: ${'x'.repeat(70_000)}\r\n`,
    ],
    ['a bad header', '400', `GET ${area} HTTP/1.1\r\nHost: wiki.acme.example.com\r\nA B: c\r\n`],
    [
      'two hosts',
      '400',
      `GET ${area} HTTP/1.1\r\nHost: wiki.acme.example.com\r\nHost: wiki.acme.example.com\r\n`,
    ],
    ['no host', '400', `GET ${area} HTTP/1.1\r\n`],
  ];
  for (const [what, status, request] of rows) {
    const { responses } = await exchangeRaw(gateway.port, `${request}Accept: text/html\r\n\r\n`);
    const [response] = responses;
    t.equal(String(response?.status), status, what);
    t.strictSame(response?.values('referrer-policy'), ['no-referrer'], what);
    t.strictSame(response?.values('cross-origin-opener-policy'), ['same-origin'], what);
  }
});

t.test('a sign-out at a host ends the session everywhere', async (t) => {
  const gateway = await start(t);
  const browser = createHostBrowser(gateway);
  await browser.signIn(`${wiki}/`);
  await browser.open(`${notes}/`);
  await browser.send(`${wiki}/postern/start`);
  await browser.send(`${wiki}/postern/start`);
  const page = await browser.send(`${wiki}/postern/sign-out`);
  t.match(page, { status: 200, headers: ofHosts, text: '<form method="post" action="/postern/sign-out">' });

  const foreign: Record<string, Record<string, string>> = {
    'another site': { ...ownForm, 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
    base_url: { ...ownForm, 'sec-fetch-site': 'same-site', origin: base },
    'another host': { ...ownForm, 'sec-fetch-site': 'cross-site', origin: notes },
    'the console': { accept: 'text/html', origin: consoleOrigin },
    'its own name, by http': { accept: 'text/html', origin: 'http://wiki.acme.example.com' },
  };
  for (const [who, headers] of Object.entries(foreign)) {
    const refused = await browser.send(`${wiki}/postern/sign-out`, { form: {}, headers });
    t.match(refused, { status: 403, setCookies: [], headers: ofHosts }, who);
    if (who !== 'base_url' && who !== 'the console') tellsNoOther(t, refused.text, who);
  }
  t.match(await browser.send(`${wiki}/`), { status: 200 }, 'nothing has ended');

  const starts = [...browser.cookiesAt(wiki).keys()].filter((name) => name.startsWith(hostStartPrefix));
  t.equal(starts.length, 2);
  const out = await browser.send(`${wiki}/postern/sign-out`, { form: {} });
  t.match(out, { status: 303, headers: { ...ofHosts, location: '/postern/signed-out' } });
  for (const name of [hostCookieName, ...starts]) t.ok(forgets(out, name), name);
  t.equal(out.setCookies.length, 3);
  t.match(await browser.send(`${wiki}/`), { status: 302, setCookies: [] });
  const there = await browser.send(`${notes}/`);
  t.match(there, { status: 302 });
  t.ok(forgets(there, hostCookieName), 'a dead cookie is cleared when it is next seen');
  t.match(await browser.open(`${notes}/`), { url: /^https:\/\/acme\.example\.com\/postern\/sign-in/ });
  const atBase = await browser.send(`${base}/app`);
  t.match(atBase, { status: 302 });
  t.ok(forgets(atBase, webCookieName));
  const again = await browser.send(`${wiki}/postern/sign-out`, { form: {} });
  t.match(again, { status: 303, headers: { location: '/postern/signed-out?session=none' } }, 'once more');
  t.equal(gateway.logLines().filter(({ event }) => event === 'session_revoked').length, 1);
});

t.test('a host without a live session says where there may be one', async (t) => {
  const gateway = await start(t);
  const browser = createHostBrowser(gateway);
  await browser.signIn(`${wiki}/`);
  // The new session of base_url is not that of the host's cookie.
  await browser.signIn(`${base}/postern/sign-in`);
  const out = await browser.send(`${wiki}/postern/sign-out`, { form: {} });
  t.match(out, { status: 303, headers: { ...ofHosts, location: '/postern/signed-out?session=none' } });
  t.ok(forgets(out, hostCookieName));
  const page = await browser.send(new URL(out.headers.location!, wiki).href);
  t.match(page, { status: 200, headers: ofHosts, text: `href="${base}/postern/sign-out"` });
  t.match(await browser.send(`${base}/app`), { status: 200 }, 'where it lives on');
  t.match(await browser.send(`${base}/postern/sign-out`, { form: {} }), {
    status: 303,
    headers: { location: '/postern/signed-out' },
  });
  t.match(await browser.send(`${base}/postern/sign-out`, { form: {} }), {
    headers: { location: '/postern/signed-out' },
  });
  const unknown = await browser.send(`${base}/postern/signed-out?session=none`);
  t.match(unknown, { status: 200, text: 'You are signed out</h1>' });
});

t.test('the start page of a host that refuses someone leads to the way out', async (t) => {
  const ofWiki = { host: new URL(wiki).host, upstream: 'app', browser: true };
  const gateway = await startHostsGateway(t, {
    routes: [
      { prefix: '/', ...ofWiki, scopes: ['store:write'] },
      { prefix: '/open', ...ofWiki },
    ],
    hosts: [wiki],
  });
  const { api } = gateway;
  const { accessToken: bearer } = await api.signIn(administrator.username, administrator.password);
  const person = { username: 'grace', password: userPassword };
  const created = await api.send({ method: 'POST', path: usersPath, json: person, bearer });
  t.equal(created.status, 201);
  const browser = createHostBrowser(gateway);
  const refused = await browser.signIn(`${wiki}/`, person);
  t.match(refused, { status: 403, text: 'href="/postern/sign-out"' });
  t.notMatch(refused.text, 'Go to the start page', 'which is this one');
  t.match(await browser.send(`${wiki}/x`), { status: 403, text: 'Go to the start page' });
});

t.test('the log says why a host cookie did not count', async (t) => {
  const gateway = await start(t);
  const browser = createHostBrowser(gateway);
  await browser.signIn(`${wiki}/`);
  const reasonOf = async (path: string, headers: Record<string, string>) => {
    const { headers: sent } = await browser.send(wiki + path, { headers });
    const line = gateway.logLines().find(({ request_id: id }) => id === sent['x-request-id']);
    return line?.reason;
  };
  t.equal(await reasonOf('/programs', script), 'web cookie on a route without browser: true');
  t.equal(await reasonOf('/', { ...script, 'sec-fetch-site': 'same-site' }), 'foreign page');
  t.equal(
    await reasonOf('/', { ...navigation, authorization: 'Basic eDp5' }),
    'authorization beside the sign-in',
  );
  browser.cookiesAt(wiki).set(hostCookieName, `${browser.cookiesAt(wiki).get(hostCookieName)}x`);
  t.equal(await reasonOf('/', script), 'session ended');
});
