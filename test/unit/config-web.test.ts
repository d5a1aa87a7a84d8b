import { join } from 'node:path';
import t from 'tap';
import { loadConfig } from '../../src/config/load.ts';
import { env, loadGood, type Row, required, requiredAndRoute, testRows } from './config-rows.ts';

const rule = 'must be one to four segments of A-Z, a-z, 0-9, . _ ~ - such as /postern';
const routes = (more: string) =>
  `upstreams: { app: { url: builtin:echo } }\nroutes: [{ prefix: /app, upstream: app, ${more} }]\n`;

const rows: Row[] = [
  ['a path that is no path', 'web: { path: »postern }', `web.path: ${rule} (postern)`],
  ['the whole host', 'web: { path: »/ }', `web.path: ${rule} (/)`],
  ['a path of five segments', 'web: { path: »/a/b/c/d/e }', `web.path: ${rule} (/a/b/c/d/e)`],
  ['a path with a slash at its end', 'web: { path: »/a/ }', `web.path: ${rule} (/a/)`],
  ['a path with a dot segment', 'web: { path: »/a/.. }', `web.path: ${rule} (/a/..)`],
  ['a path of the API', 'web: { path: »/api/x }', "web.path: can't be in /api, which is api_path (/api/x)"],
  [
    'a path that servers read as the API',
    'web: { path: »/API }',
    "web.path: can't be in /api, which is api_path (/API)",
  ],
  ['a well-known path', 'web: { path: »/.well-known }', "web.path: can't be in /.well-known (/.well-known)"],
  [
    'a start page elsewhere',
    'web: { home: »//evil.example }',
    'web.home: must be a path of base_url, such as /app/ (//evil.example)',
  ],
  [
    'a contact that is neither address nor page',
    'web: { contact: »the help desk }',
    'web.contact: must be an e-mail address, or an http:// or https:// URL (the help desk)',
  ],
  [
    'a contact that would run',
    'web: { contact: »"javascript:alert(1)" }',
    'web.contact: must be an e-mail address, or an http:// or https:// URL (javascript:alert(1))',
  ],
  [
    'a provider’s title that isolates what follows',
    'identity_providers: { staff: { issuer: "https://login.example.com", client_id: postern, title: »"Acme\\u2066" } }\nweb: {}',
    'identity_providers.staff.title: must not contain control characters, line breaks or direction marks (Acme\\u{2066})',
  ],
  ['an unknown key', 'web: { »pasword: false }', 'web.pasword: unknown key: did you mean "password"?'],
  [
    'a route in the area',
    'web: { path: /pages }\nupstreams: { app: { url: builtin:echo } }\nroutes: [{ prefix: »/pages/x, upstream: app }]',
    'routes[0].prefix: is in /pages, which Postern serves itself (/pages/x)',
  ],
  ['a browser route without pages', routes('»browser: true'), 'routes[0].browser: requires web'],
  [
    'a browser route for keys alone',
    `web: {}\n${routes('»browser: true, accept: api_key')}`,
    'routes[0].browser: requires session in accept',
  ],
  [
    'a provider that nothing leads back from',
    'identity_providers: { »staff: { issuer: "https://login.example.com", client_id: postern } }',
    'identity_providers.staff.redirect_uri: is required',
  ],
  [
    'a sign-out at the provider without pages',
    'identity_providers: { staff: { issuer: "https://login.example.com", client_id: postern, redirect_uri: "https://a.example/in", »end_session: true } }',
    'identity_providers.staff.end_session: requires web',
  ],
  [
    'a console for the sign-ins of an unknown provider',
    'web: { console: { require: »staff } }',
    'web.console.require: must be one of identity_providers (staff)',
  ],
  [
    'a console whose refresh cookie goes to services, too',
    'web: { console: { base_url: "https://console.acme.example.com" } }\nsessions: { cookie: { domain: »acme.example.com } }',
    "sessions.cookie.domain: can't be combined with web.console.base_url (acme.example.com)",
  ],
];

testRows(rows);

t.test('a console that is not apart from services is a warning', async (t) => {
  const trusted = `${requiredAndRoute}trusted_proxies: []\n`;
  const inFront = trusted.replace('builtin:echo', 'http://127.0.0.1:9000');
  const at = (origin: string) => `${inFront}web: { console: { base_url: "${origin}" } }\n`;
  const rows = {
    shared: [
      `${inFront}web: { console: {} }\n`,
      'web.console: shares its origin with upstreams: give it a base_url of its own',
    ],
    port: [
      at('https://acme.example.com:8443'),
      'web.console.base_url: shares its cookies with base_url: give it another host',
    ],
    http: [
      at('http://console.example.com'),
      'web.console.base_url: should have the same scheme as base_url',
      'web.console.base_url: is http: passwords, tokens and cookies can be read and changed on their way; use https',
    ],
    own: [at('https://console.example.com')],
    quick: [`${trusted}web: { console: {} }\n`],
  } as const;
  const folder = t.testdir(
    Object.fromEntries(Object.entries(rows).map(([name, [text]]) => [`${name}.yaml`, text])),
  );
  for (const [name, [, ...expected]] of Object.entries(rows)) {
    const { warnings } = loadConfig(join(folder, `${name}.yaml`), env) as {
      warnings?: readonly { key: string; rule: string }[];
    };
    t.strictSame(
      warnings?.map(({ key, rule }) => `${key}: ${rule}`),
      expected,
      name,
    );
  }
});

t.test('the defaults', async (t) => {
  const { config } = loadGood(t, 'web: {}');
  t.same(config.web, { path: '/postern', password: true, service_workers: 'refuse' });
  t.equal(loadGood(t, '').config.web, undefined);
});

t.test('defaults that depend on other sections', async (t) => {
  const of = (yaml: string) => {
    const { web, endpoints } = loadGood(t, yaml).config;
    return [endpoints.users, web?.home];
  };
  const app = 'upstreams: { app: { url: builtin:echo } }\n';
  const pages = `${app}routes: [{ prefix: /, upstream: app, browser: true }]\n`;
  t.strictSame(of('web: {}'), ['upstream', undefined]);
  t.strictSame(of('web: { console: {} }'), ['own', undefined], 'Postern serves the users of a console');
  t.strictSame(of('web: { console: {} }\nendpoints: { audit: off }'), ['own', undefined]);
  t.strictSame(of('web: { console: {} }\nendpoints: { users: upstream }'), ['upstream', undefined]);
  t.strictSame(of('web: { console: {} }\nendpoints: { users: off }'), ['off', undefined]);
  t.strictSame(of(`${pages}web: {}`), ['upstream', '/'], 'a sign-in leads to the pages');
  t.strictSame(of(`${pages}web: { home: /app/ }`), ['upstream', '/app/']);
  const part = `${app}web: {}\nroutes:\n`;
  const rows: [home: string | undefined, ...routes: string[]][] = [
    [undefined, '{ prefix: /app, upstream: app, browser: true }', '{ prefix: /, upstream: app }'],
    [undefined, '{ prefix: /, upstream: app, browser: true }', '{ exact: /, upstream: app }'],
    ['/', '{ prefix: /, upstream: app }', '{ exact: /, upstream: app, browser: true }'],
  ];
  for (const [home, ...routes] of rows)
    t.strictSame(of(part + routes.map((route) => `- ${route}\n`).join('')), ['upstream', home]);
});

t.test('a route in the users that a console needs is a problem', async (t) => {
  const folder = t.testdir({
    'postern.yaml': `${required}web: { console: {} }\nupstreams: { app: { url: builtin:echo } }\nroutes: [{ prefix: /api/admin/users, upstream: app }]\n`,
  });
  t.match(loadConfig(join(folder, 'postern.yaml'), env).problems, [
    { key: 'routes[0].prefix', rule: 'is in /api/admin/users, which Postern serves itself' },
  ]);
});

t.test('a logo that can’t be shown is a problem', async (t) => {
  const folder = t.testdir({
    'note.txt': 'no image',
    'postern.yaml': `${requiredAndRoute}web: { logo: note.txt }\n`,
    'absent.yaml': `${requiredAndRoute}web: { logo: absent.png }\n`,
  });
  const problemsIn = (file: string) =>
    loadConfig(join(folder, file), env).problems?.map(({ key, rule }) => `${key}: ${rule}`);
  t.strictSame(problemsIn('postern.yaml'), ['web.logo: must be a PNG, SVG or WebP image']);
  t.match(problemsIn('absent.yaml')?.[0], /^web\.logo: can't be read: /);
});

t.test('a logo is found beside the file', async (t) => {
  const { config, folder } = loadGood(t, 'web: { logo: logo.svg }', {
    'logo.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
  });
  t.equal(config.web?.logo, `${folder}/logo.svg`);
});
