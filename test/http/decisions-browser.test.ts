import t, { type Test } from 'tap';
import { type DecisionMode, decisionModes } from '../../src/config/sections/forward-auth.ts';
import { connectCheckClient } from '../support/clients/check-client.ts';
import { type HttpMode, sendQuestion } from '../support/clients/decisions.ts';
import { hostCookieName, hostCookieOf } from '../support/pages/host-cookies.ts';
import { navigation, startWebGateway, type WebGateway } from '../support/pages/web.ts';

const wiki = 'wiki.acme.example.com';
const base = 'acme.example.com';
const preview = 'a1.preview.acme.dev';
const hosts = [`https://${wiki}`, 'https://*.preview.acme.dev'];
const routes = [
  { host: wiki, prefix: '/open', upstream: 'none', browser: true, public: true },
  { host: wiki, prefix: '/api', upstream: 'none' },
  { host: wiki, prefix: '/strict', upstream: 'none', browser: true, scopes: ['store:write'] },
  { host: wiki, prefix: '/', upstream: 'none', browser: true },
  { host: '*.preview.acme.dev', prefix: '/', upstream: 'none', browser: true },
  { prefix: '/app', upstream: 'none', browser: true },
  { prefix: '/api', upstream: 'none' },
];
const startPrefix = '__Host-service_refresh_cookie_start_';
/** Those that may have `browser`. */
const modes = decisionModes.filter((mode) => mode !== 'ingress_nginx');

/** What a proxy asks about. */
interface Question {
  readonly method?: string;
  /** Null: the proxy names none. */
  readonly host: string | null;
  readonly target: string;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Answer {
  readonly status: number;
  readonly header: (name: string) => string | undefined;
  readonly text: string;
}

interface Deciding extends WebGateway {
  readonly ask: (mode: DecisionMode, question: Question) => Promise<Answer>;
  /** Sends lines to a listener as they are. */
  readonly send: (mode: HttpMode, requestLine: string, lines: readonly string[]) => Promise<number>;
}

async function start(t: Test, config: object = {}, settings: object = { browser: true }): Promise<Deciding> {
  const gateway = await startWebGateway(t, {
    forward_auth: decisionModes.map((mode) => ({
      ...{ mode, port: 0 },
      ...(mode === 'ingress_nginx' ? {} : settings),
    })),
    ...{ hosts, routes },
    ...config,
  });
  const portOf = (mode: DecisionMode) => gateway.decisionPorts[decisionModes.indexOf(mode)]!;
  const { check } = connectCheckClient(t, portOf('envoy_grpc'));
  return {
    ...gateway,
    async ask(mode, { method = 'GET', host, target, headers = {} }) {
      if (mode === 'envoy_grpc') {
        const answer = await check({ method, path: target, host: host ?? '', headers });
        return { status: answer.status, header: (name) => answer.headers[name], text: answer.body };
      }
      const [requestLine, lines] = described(mode, method, target, host);
      const client = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
      const answer = await sendQuestion(portOf(mode), requestLine, [...lines, ...client]);
      return { status: answer.status, header: (name) => answer.values(name)[0], text: answer.text };
    },
    send: async (mode, requestLine, lines) => (await sendQuestion(portOf(mode), requestLine, lines)).status,
  };
}

/** The request line and headers by which a proxy describes a request and its host. */
function described(mode: HttpMode, method: string, target: string, host: string | null): [string, string[]] {
  const from = (prefix: string) => [`${prefix}-Method: ${method}`, `${prefix}-Uri: ${target}`];
  const naming = (name: string) => (host === null ? [] : [`${name}: ${host}`]);
  switch (mode) {
    case 'nginx':
    case 'haproxy':
      return ['GET / HTTP/1.1', ['Host: decisions', ...from('X-Original'), ...naming('X-Original-Host')]];
    case 'ingress_nginx': {
      const url = `X-Original-URL: https://${host}${target}`;
      return ['GET / HTTP/1.1', ['Host: decisions', `X-Original-Method: ${method}`, url]];
    }
    case 'traefik':
    case 'caddy':
      return ['GET / HTTP/1.1', ['Host: decisions', ...from('X-Forwarded'), ...naming('X-Forwarded-Host')]];
    case 'envoy':
      return [`${method} /check${target} HTTP/1.1`, naming('Host')];
  }
}

/** The status by which a proxy of that kind gets a refusal. */
function statusFor(mode: DecisionMode, status: number): number {
  return mode.endsWith('nginx') && status >= 400 && status < 500 && status !== 401 ? 403 : status;
}

const fetched = { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' };
const refused = (mode: DecisionMode, status: number, code: string) => ({
  status: statusFor(mode, status),
  code,
});
const inShort = ({ status, header }: Answer) => ({ status, code: header('x-auth-code') });

/** Where a browser is led; undefined if it isn't. */
function ledTo(mode: DecisionMode, { status, header }: Answer): string | undefined {
  if (mode === 'nginx') return status === 401 ? header('x-auth-location') : undefined;
  return status === 302 ? header('location') : undefined;
}

t.test('a signed-in browser is admitted at each host by the cookie of that host alone', async (t) => {
  const gateway = await start(t);
  const { ask } = gateway;
  const web = await gateway.signIn();
  const cookies = {
    none: undefined,
    web,
    wiki: hostCookieOf(gateway, web, wiki),
    preview: hostCookieOf(gateway, web, preview),
    both: `${web}; ${hostCookieOf(gateway, web, wiki)}`,
    wrong: `${hostCookieName}=x`,
    'of a page at another name': `${web}; ${hostCookieName}=${web.split('=')[1]}`,
  };
  const places: [host: string, target: string, admitted: readonly string[]][] = [
    [base, '/app/x', ['web', 'both', 'of a page at another name']],
    [`${base.toUpperCase()}.:8443`, '/app/x', ['web', 'both', 'of a page at another name']],
    [wiki, '/page', ['wiki', 'both']],
    [`${wiki.toUpperCase()}.:443`, '/page', ['wiki', 'both']],
    [preview, '/page', ['preview']],
    ['a2.preview.acme.dev', '/page', []],
    [wiki, '/api/x', []],
  ];
  for (const mode of modes)
    for (const [host, target, admitted] of places)
      for (const [name, cookie] of Object.entries(cookies))
        for (const headers of [navigation, fetched]) {
          const asked = { host, target, headers: cookie === undefined ? headers : { ...headers, cookie } };
          const answer = await ask(mode, asked);
          const what = `${mode} ${host}${target} ${name} ${headers['sec-fetch-mode']}`;
          t.equal(answer.status === 200, admitted.includes(name), what);
          if (answer.status === 200) t.equal(answer.header('x-auth-username'), 'ada', what);
          t.equal(answer.header('set-cookie'), undefined, what);
        }
});

t.test('a navigation without a session is led to the sign-in of its host', async (t) => {
  const { ask } = await start(t);
  const long = `/page?${'x'.repeat(2048)}`;
  const rows: [host: string, target: string, location: string | undefined][] = [
    [wiki, '/page?x=1&y=%2F', '/postern/start?return_to=%2Fpage%3Fx%3D1%26y%3D%252F'],
    [preview, '/', '/postern/start?return_to=%2F'],
    [wiki, long, '/postern/start?return_to=%2Fpage'],
    [wiki, `/${'x'.repeat(2048)}`, '/postern/start'],
    [base, '/app/x?y', '/postern/sign-in?return_to=%2Fapp%2Fx%3Fy'],
    [base, '/', '/postern/'],
    [wiki, '/api/x', undefined],
    [base, '/api/x', undefined],
  ];
  for (const mode of modes) {
    for (const [host, target, location] of rows) {
      const answer = await ask(mode, { host, target, headers: navigation });
      t.equal(ledTo(mode, answer), location, `${mode} ${host}${target.slice(0, 60)}`);
      const code = target === '/' && host === base ? 'not_found' : 'not_authenticated';
      t.equal(answer.header('x-auth-code'), code);
      t.equal(answer.header('cache-control'), 'no-store');
      const isChallenged = mode === 'nginx' ? code === 'not_authenticated' : location === undefined;
      t.equal(answer.header('www-authenticate'), isChallenged ? 'Bearer realm="acme"' : undefined);
    }
    const posted = await ask(mode, { method: 'POST', host: wiki, target: '/page', headers: navigation });
    t.match(inShort(posted), refused(mode, 401, 'not_authenticated'));
    t.equal(ledTo(mode, posted), undefined, `${mode}: a form is not led`);
    for (const [host, signIn] of [
      [wiki, '/postern/start'],
      [base, '/postern/sign-in'],
    ] as const) {
      const target = host === base ? '/app' : '/page';
      const script = await ask(mode, { host, target, headers: fetched });
      t.match(inShort(script), refused(mode, 401, 'not_authenticated'));
      t.match(JSON.parse(script.text), { code: 'not_authenticated', sign_in: signIn }, `${mode} ${host}`);
    }
  }
});

t.test('elsewhere no one is signed in, and with `hosts` nothing is known', async (t) => {
  const gateway = await start(t);
  const cookie = await gateway.signIn();
  const unknown = [
    'other.example',
    `x.${wiki}`,
    'preview.acme.dev',
    'a.b.preview.acme.dev',
    '192.0.2.1',
    '_',
  ];
  for (const mode of decisionModes)
    for (const host of unknown)
      for (const target of ['/app', '/api', '/', '/postern/start']) {
        const answer = await gateway.ask(mode, { host, target, headers: { ...navigation, cookie } });
        t.match(inShort(answer), refused(mode, 404, 'not_found'), `${mode} ${host}${target}`);
        t.equal(ledTo(mode, answer), undefined);
      }
  const alone = await start(t, { hosts: undefined, routes: routes.filter(({ host }) => host === undefined) });
  const web = await alone.signIn();
  for (const mode of modes) {
    const headers = { ...navigation, cookie: web };
    const ask = (host: string) => alone.ask(mode, { host, target: '/app', headers });
    t.equal((await ask(base)).status, 200, mode);
    t.match(inShort(await ask('other.example')), refused(mode, 401, 'not_authenticated'), mode);
    const led = await alone.ask(mode, { host: 'other.example', target: '/app', headers: navigation });
    t.equal(ledTo(mode, led), undefined, mode);
    t.match(
      ledTo(mode, await alone.ask(mode, { host: base, target: '/app', headers: navigation })),
      /^\/postern\/sign-in\?/,
    );
  }
});

t.test('without `browser` cookies and navigations count nowhere, and routes go by the host', async (t) => {
  const gateway = await start(t, {}, {});
  const web = await gateway.signIn();
  for (const mode of decisionModes)
    for (const [host, target] of [
      [wiki, '/page'],
      [base, '/app'],
    ] as const) {
      const cookie = host === base ? web : hostCookieOf(gateway, web, wiki);
      for (const headers of [{ ...navigation }, { ...navigation, cookie }]) {
        const answer = await gateway.ask(mode, { host, target, headers });
        t.match(inShort(answer), refused(mode, 401, 'not_authenticated'), `${mode} ${host}`);
        t.equal(ledTo(mode, answer), undefined);
        t.equal(JSON.parse(answer.text).sign_in, undefined);
      }
      const open = await gateway.ask(mode, { host, target: '/open/x' });
      t.match(inShort(open), host === wiki ? { status: 200 } : refused(mode, 404, 'not_found'));
    }
});

t.test('own paths are the public listener’s', async (t) => {
  const { ask, signIn } = await start(t);
  await signIn();
  for (const mode of modes) {
    const paths = ['/postern/start', '/postern/enter?code=x', '/postern/sign-out', '/postern/nothing'];
    for (const target of paths)
      t.match(inShort(await ask(mode, { host: wiki, target })), refused(mode, 404, 'not_found'), target);
    // On a named host only the pages are Postern's: the rest is its routes'.
    t.match(inShort(await ask(mode, { host: wiki, target: '/api/login/access-token' })), { status: 401 });
    t.match(
      inShort(await ask(mode, { host: base, target: '/api/login/access-token' })),
      refused(mode, 404, 'not_found'),
    );
  }
});

t.test('the described host is there exactly once, and is a host', async (t) => {
  const { ask, send } = await start(t);
  const target = '/open/x';
  for (const mode of modes) {
    for (const host of [
      null,
      '',
      ' ',
      'a b',
      `${wiki},${wiki}`,
      `${wiki}/`,
      `user@${wiki}`,
      '*',
      '[::1',
      ':443',
    ]) {
      const { status } = await ask(mode, { host, target });
      t.equal(status, statusFor(mode, 400), `${mode} ${host}`);
    }
    if (mode === 'envoy_grpc') continue;
    const [requestLine, lines] = described(mode, 'GET', target, wiki);
    const line = lines.at(-1)!;
    const name = line.split(':', 1)[0]!;
    t.equal(await send(mode, requestLine, lines), 200, mode);
    for (const more of [line, `${name}: ${base}`, `${name.toLowerCase()}: ${base}`, `${name}:`])
      t.equal(await send(mode, requestLine, [...lines, more]), statusFor(mode, 400), `${mode} ${more}`);
  }
});

t.test('a header of another mode names no host', async (t) => {
  const { ask } = await start(t);
  const names = ['X-Original-Host', 'X-Forwarded-Host'];
  for (const mode of modes)
    for (const name of names) {
      const answer = await ask(mode, { host: wiki, target: '/open/x', headers: { [name]: base } });
      const isOwn = mode === 'nginx' || mode === 'haproxy' ? name === names[0] : name === names[1];
      const removes = mode.startsWith('envoy');
      if (removes) t.equal(answer.status, 200, `${mode} ${name}`);
      else if (!isOwn && name === names[1]) t.equal(answer.status, 200, `${mode}: its own`);
      else t.equal(answer.status, statusFor(mode, 400), `${mode} ${name}`);
    }
});

t.test('pages of other sites use no cookie', async (t) => {
  const gateway = await start(t);
  const web = await gateway.signIn();
  const cookie = hostCookieOf(gateway, web, wiki);
  const from = (origin: string, site: string) => ({ ...fetched, origin, 'sec-fetch-site': site });
  type Row = [name: string, method: string, headers: Record<string, string>, status: number];
  const rows: Row[] = [
    ['a script of its own', 'POST', from(`https://${wiki}`, 'same-origin'), 200],
    ['its own origin alone', 'POST', { origin: `https://${wiki}` }, 200],
    ['a form of the sign-in’s host', 'POST', { ...from(`https://${base}`, 'same-site') }, 403],
    ['a form of another', 'PUT', from('https://evil.example', 'cross-site'), 403],
    ['an origin that is null', 'POST', { origin: 'null' }, 403],
    ['an image of another', 'GET', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' }, 401],
    ['a script of a sibling', 'GET', from(`https://${base}`, 'same-site'), 401],
    ['a link of another', 'GET', { ...navigation, 'sec-fetch-site': 'cross-site' }, 200],
    ['a frame', 'GET', { ...navigation, 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'iframe' }, 401],
  ];
  for (const mode of modes)
    for (const [name, method, headers, status] of rows) {
      const answer = await gateway.ask(mode, {
        method,
        host: wiki,
        target: '/page',
        headers: { ...headers, cookie },
      });
      t.equal(answer.status, statusFor(mode, status), `${mode}: ${name}`);
    }
});

t.test('refused people get pages, programs JSON, with the status and code of the mode', async (t) => {
  const gateway = await start(t);
  const web = await gateway.signIn();
  const cookie = hostCookieOf(gateway, web, wiki);
  const worker = { ...fetched, 'service-worker': 'script', cookie };
  for (const mode of modes) {
    const bad = await gateway.ask(mode, {
      host: wiki,
      target: '/page/..',
      headers: { ...navigation, cookie },
    });
    t.match(inShort(bad), refused(mode, 400, 'bad_request'), mode);
    t.match(bad.text, /^<!doctype html>/i, `${mode}: a page`);
    const program = await gateway.ask(mode, { host: wiki, target: '/page/..' });
    t.match(JSON.parse(program.text), { code: 'bad_request' });
    const own = await gateway.ask(mode, {
      host: wiki,
      target: '/page',
      headers: { ...navigation, cookie, authorization: 'Basic YTpi' },
    });
    t.match(inShort(own), refused(mode, 401, 'not_authenticated'), 'not led in a circle');
    t.equal(ledTo(mode, own), undefined, mode);
    const script = await gateway.ask(mode, { host: wiki, target: '/sw.js', headers: worker });
    t.match(inShort(script), refused(mode, 403, 'cross_site'), `${mode}: no service worker above the pages`);
    const below = await gateway.ask(mode, { host: wiki, target: '/page/sw.js', headers: worker });
    t.equal(below.status, 200, `${mode}: one of its own folder`);
  }
});

t.test('what ends, ends here at once', async (t) => {
  const gateway = await start(t);
  const web = await gateway.signIn();
  const cookie = hostCookieOf(gateway, web, wiki);
  const ask = (mode: DecisionMode, host: string, target: string, value: string) =>
    gateway.ask(mode, { host, target, headers: { ...navigation, cookie: value } });
  for (const mode of modes) t.equal((await ask(mode, wiki, '/page', cookie)).status, 200, mode);
  await gateway.submit('/postern/sign-out', {}, web);
  for (const mode of modes) {
    const answers = [await ask(mode, wiki, '/page', cookie), await ask(mode, base, '/app', web)];
    for (const answer of answers) {
      t.match(ledTo(mode, answer), /^\/postern\//, mode);
      t.equal(answer.header('set-cookie'), undefined, `${mode}: no decision clears a cookie`);
    }
    const open = await ask(mode, wiki, '/open/x', cookie);
    t.equal(open.status, 200);
    t.equal(open.header('set-cookie'), undefined, mode);
  }
});

t.test('a reload begins to read hosts, and forgets those that leave', async (t) => {
  const listeners = decisionModes.map((mode) => ({ mode, port: 0 }));
  const ofAll = routes.filter(({ host }) => host === undefined);
  const open = { prefix: '/open', upstream: 'none', public: true };
  const gateway = await start(t, { hosts: undefined, routes: [...ofAll, open], forward_auth: listeners });
  const web = await gateway.signIn();
  const cookie = hostCookieOf(gateway, web, wiki);
  const undescribed = () =>
    Promise.all(modes.map((mode) => gateway.ask(mode, { host: null, target: '/open/x' })));
  const { reload } = gateway;
  const shared = { web: {}, endpoints: { users: 'own' } };
  const browsers = listeners.map((each) => ({ ...each, browser: each.mode !== 'ingress_nginx' }));
  const statuses = (answers: readonly Answer[]) => answers.map(({ status }) => status);
  // Over HTTP, Envoy's Host is there in any case, and gRPC's too.
  t.strictSame(statuses(await undescribed()).slice(0, 4), [200, 200, 200, 200]);
  await reload({ ...shared, hosts, routes, forward_auth: browsers });
  t.strictSame(
    statuses(await undescribed()),
    modes.map((mode) => statusFor(mode, 400)),
  );
  const asked = (mode: DecisionMode, headers: Record<string, string>) =>
    gateway.ask(mode, { host: wiki, target: '/page', headers });
  for (const mode of modes) t.equal((await asked(mode, { cookie })).status, 200, mode);
  const others = routes.filter(({ host }) => host !== wiki);
  await reload({ ...shared, hosts: hosts.slice(1), routes: others, forward_auth: browsers });
  for (const mode of modes) t.equal((await asked(mode, { cookie })).status, statusFor(mode, 404), mode);
});

t.test('no cookie of Postern’s is for the service', async (t) => {
  const gateway = await start(t);
  const web = await gateway.signIn();
  const ours = [hostCookieOf(gateway, web, wiki), web, `${startPrefix}abcdef=x`];
  for (const mode of modes) {
    const cookie = `a=1; ${ours.join('; ')}; b=2`;
    const answer = await gateway.ask(mode, { host: wiki, target: '/page', headers: { cookie } });
    t.equal(answer.status, 200, mode);
    t.equal(answer.header('cookie'), 'a=1; b=2', mode);
    const none = await gateway.ask(mode, {
      host: wiki,
      target: '/page',
      headers: { cookie: ours.join('; ') },
    });
    const removed = none.header('x-envoy-auth-headers-to-remove');
    if (mode === 'envoy') t.match(removed, /\bcookie\b/);
    else if (mode !== 'envoy_grpc') t.equal(none.header('cookie'), '', mode);
  }
});
