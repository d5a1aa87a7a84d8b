import { rmSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { loadConfig } from '../../src/config/load.ts';
import { requireProgram } from '../support/programs.ts';
import { makeCertificate } from '../support/servers/certificates.ts';
import { makeTemporaryFolder } from '../support/temporary-folder.ts';
import { env, loadGood, type Row, required, testRows } from './config-rows.ts';

const entries = '[ https://wiki.example.com, "https://*.preview.example.dev" ]';
const app = 'upstreams: { app: { url: "http://127.0.0.1:9000" }, other: { url: "http://app:9000" } }\n';
const withRoutes = (hosts: string, ...routes: string[]) =>
  `web: {}\nhosts: ${hosts}\n${app}routes:\n${routes.map((route) => `  - ${route}\n`).join('')}`;
const local = 'tenant: acme\nbase_url: http://gate.localhost:8080\nweb: {}\n';
const untold = "over http, browsers don't say which page makes a request";
const wild = 'can have * for the whole first label alone, such as https://*.preview.example.com';
const cookies = 'and cookies know no ports: use another name';

const origins: Row[] = [
  ['no entry', 'web: {}\nhosts: »[]', 'hosts: must have at least one origin'],
  [
    'more entries than there may be',
    `web: {}\nhosts: »[${Array.from({ length: 257 }, (_, index) => `https://h${index}.example`).join(', ')}]`,
    'hosts: must have at most 256 origins',
  ],
  ['hosts without pages', '»hosts: [ https://wiki.example.com ]', 'hosts: requires web'],
  [
    'names, paths, slashes and ports that no origin has',
    'web: {}\nhosts: [ »wiki.example.com, »https://b.example.com/x, »https://c.example.com/, »https://d.example.com:443, »https://E.example.com, »https://bücher.example.com, »https://f.example.com., »https://g.example.com.:8443, »https://me@h.example.com ]',
    'hosts[0]: must be an http:// or https:// URL (wiki.example.com)',
    'hosts[1]: must not have a user, path, query or fragment (https://b.example.com/x)',
    'hosts[2]: must not have a slash at its end (https://c.example.com/)',
    'hosts[3]: must be in the form browsers send: lower case, no default port (https://d.example.com:443)',
    'hosts[4]: must be in the form browsers send: lower case, no default port (https://E.example.com)',
    'hosts[5]: must be in the form browsers send: lower case, no default port (https://bücher.example.com)',
    'hosts[6]: must not have a dot at the end of its name (https://f.example.com.)',
    'hosts[7]: must not have a dot at the end of its name (https://g.example.com.:8443)',
    'hosts[8]: must not have a user, path, query or fragment',
  ],
  [
    'names with an empty label, and a port that nothing listens on',
    'web: {}\nhosts: [ »https://a..example.com, »https://.b.example.com, »"https://*..example.com", »https://c.example.com:0 ]',
    'hosts[0]: must not have an empty label in its name (https://a..example.com)',
    'hosts[1]: must not have an empty label in its name (https://.b.example.com)',
    'hosts[2]: must not have an empty label in its name (https://*..example.com)',
    'hosts[3]: must have a port from 1 to 65535 (https://c.example.com:0)',
  ],
  [
    'wildcards for other than the whole first label',
    'web: {}\nhosts: [ »"https://a*.example.com", »"https://a.*.example.com", »"https://*.*.example.com", »"https://*", »"https://*:8443", »"https://*.", »"https://*.0.0.1" ]',
    ...[
      ['https://a*.example.com', wild],
      ['https://a.*.example.com', wild],
      ['https://*.*.example.com', wild],
      ['https://*', wild],
      ['https://*:8443', wild],
      ['https://*.', wild],
      ['https://*.0.0.1', 'must be an http:// or https:// URL'],
    ].map(([value, rule], index) => `hosts[${index}]: ${rule} (${value})`),
  ],
  [
    'an entry of another scheme',
    'web: {}\nhosts: [ https://a.example.com, »http://b.localhost ]',
    'hosts[1]: must be https://, as base_url is (http://b.localhost)',
  ],
  [
    'an entry of another scheme than http',
    `${local}hosts: [ »https://b.localhost ]`,
    'hosts[0]: must be http://, as base_url is (https://b.localhost)',
  ],
  [
    'names that base_url, the console or another entry has',
    'web: { console: { base_url: https://console.example.com } }\nhosts: [ »https://acme.example.com:8443, »https://console.example.com, https://a.example.com, »https://a.example.com:8443, "https://*.b.example.com", »"https://*.b.example.com:8443", https://c.b.example.com ]',
    `hosts[0]: has the name of base_url, ${cookies} (https://acme.example.com:8443)`,
    'hosts[1]: is web.console.base_url already: remove it (https://console.example.com)',
    `hosts[3]: has the name of hosts[2], ${cookies} (https://a.example.com:8443)`,
    `hosts[5]: has the name of hosts[4], ${cookies} (https://*.b.example.com:8443)`,
  ],
  [
    'http elsewhere than on loopback',
    'tenant: a\nbase_url: »http://gate.example.com\nweb: {}\nhosts: [ http://wiki.localhost, »http://wiki.example.com, »"http://*.example.com", »http://10.0.0.1:8080, http://127.1.2.3, "http://[::1]:8080", »"http://[::2]", http://localhost:8080, "http://*.localhost", »http://localhost.example.com ]',
    `base_url: must be https:// while there are hosts, unless on loopback: ${untold} (http://gate.example.com)`,
    ...[
      [1, 'http://wiki.example.com'],
      [2, 'http://*.example.com'],
      [3, 'http://10.0.0.1:8080'],
      [6, 'http://[::2]'],
      [9, 'http://localhost.example.com'],
    ].map(([index, value]) => `hosts[${index}]: must be https:// unless on loopback: ${untold} (${value})`),
  ],
];

const routes: Row[] = [
  [
    'hosts of routes that no entry has',
    withRoutes(
      entries,
      '{ prefix: /, upstream: app, host: »wikki.example.com }',
      '{ prefix: /, upstream: app, host: »https://wiki.example.com:8443 }',
      '{ prefix: /, upstream: app, host: »Wiki.example.com }',
      '{ prefix: /, upstream: app, host: »a.preview.example.dev }',
      '{ prefix: /, upstream: app, host: »zzz.example.org }',
    ),
    ...[
      'wikki.example.com',
      'https://wiki.example.com:8443',
      'Wiki.example.com',
      'a.preview.example.dev',
      'zzz.example.org',
    ].map((value, index) => {
      const names = 'one of wiki.example.com, *.preview.example.dev';
      const meant = ['wiki.example.com', 'wiki.example.com', 'wiki.example.com', '*.preview.example.dev'];
      const cure = index < 4 ? `did you mean "${meant[index]}"?` : names;
      return `routes[${index}].host: must be the name in an entry of hosts: ${cure} (${value})`;
    }),
  ],
  [
    'routes of names that are no entries',
    withRoutes(
      '[ https://wiki.example.com ]',
      '{ prefix: /, upstream: app, host: »acme.example.com }',
      '{ prefix: /, upstream: app, host: »console.example.com }',
    ).replace('web: {}', 'web: { console: { base_url: https://console.example.com } }'),
    'routes[0].host: is the name of base_url, whose routes are those without host: leave it out (acme.example.com)',
    'routes[1].host: is the name of web.console.base_url, at which there is nothing but the console (console.example.com)',
  ],
  [
    'a route of a host where there are none',
    `${app}routes: [{ prefix: /, upstream: app, »host: wiki.example.com }]`,
    'routes[0].host: requires hosts',
  ],
  [
    'a route of an entry that is broken itself',
    withRoutes('[ »wiki.example.com ]', '{ prefix: /, upstream: app, host: wiki.example.com }'),
    'hosts[0]: must be an http:// or https:// URL (wiki.example.com)',
  ],
  [
    'a route whose host is broken follows from nothing else',
    withRoutes(
      entries,
      '{ prefix: /, upstream: app }',
      '{ prefix: /, upstream: app, host: »5 }',
      '{ prefix: /api/login, upstream: other, host: »5, strip_prefix: /api }',
    ),
    'routes[1].host: must be a string: put it in quotes (5)',
    'routes[2].host: must be a string: put it in quotes (5)',
  ],
  [
    'two routes of one host and path',
    withRoutes(
      entries,
      '{ prefix: /a, upstream: app }',
      '{ prefix: /a, upstream: app, host: wiki.example.com }',
      '{ prefix: »/a, upstream: other, host: wiki.example.com }',
      '{ exact: /a, upstream: app, host: wiki.example.com }',
      '{ prefix: /a, upstream: app, host: "*.preview.example.dev" }',
      '{ prefix: »/a/, upstream: app, host: "*.preview.example.dev" }',
    ),
    'routes[2].prefix: duplicates routes[1].prefix (/a)',
    'routes[5].prefix: duplicates routes[4].prefix (/a/)',
  ],
  [
    'routes of a host in the area of the pages',
    withRoutes(
      entries,
      '{ prefix: »/postern, upstream: app, host: wiki.example.com }',
      '{ exact: »/Postern/start, upstream: app, host: wiki.example.com }',
      '{ prefix: »/api/login, upstream: app }',
    ),
    'routes[0].prefix: is in /postern, which Postern serves itself (/postern)',
    'routes[1].exact: is in /postern, which Postern serves itself (/Postern/start)',
    'routes[2].prefix: is in /api/login, which Postern serves itself (/api/login)',
  ],
  [
    'a route of a host that another of this host leaves nothing',
    `paths: { semicolons: pass }\n${withRoutes(
      entries,
      '{ prefix: »"/a;b/c", upstream: app, host: wiki.example.com }',
      '{ prefix: /a/c, upstream: app, host: wiki.example.com }',
      '{ prefix: "/b;b/c", upstream: app, host: wiki.example.com }',
      '{ prefix: /b/c, upstream: app }',
    )}`,
    'routes[0].prefix: never matches: servers may read it as routes[1].prefix, which is closer (/a;b/c)',
  ],
  [
    'two routes of a host that reach one server by other paths',
    withRoutes(
      entries,
      '{ prefix: /files, upstream: app, strip_prefix: »/files, host: wiki.example.com }',
      '{ prefix: /admin, upstream: app, host: wiki.example.com }',
      '{ prefix: /files, upstream: other, strip_prefix: /files }',
      '{ prefix: /archive, upstream: other, host: wiki.example.com }',
    ),
    'routes[0].strip_prefix: reaches by another path what routes[1].prefix reaches on the same server, and one would open what the other guards: strip and prepend the same for both, or separate their paths there (/files)',
  ],
  [
    'two routes of a host to one server, where a route of another host takes the paths in between',
    withRoutes(
      entries,
      '{ prefix: /files, upstream: other, strip_prefix: »/files, host: wiki.example.com }',
      '{ prefix: /admin, upstream: other, host: wiki.example.com }',
      '{ prefix: /files/admin, upstream: app }',
    ),
    'routes[0].strip_prefix: reaches by another path what routes[1].prefix reaches on the same server, and one would open what the other guards: strip and prepend the same for both, or separate their paths there (/files)',
  ],
];

const decisions: Row[] = [
  [
    'decisions for browsers without pages',
    'forward_auth: [{ mode: nginx, »browser: true }]',
    'forward_auth[0].browser: requires web',
  ],
  [
    'decisions for browsers through ingress-nginx',
    'web: {}\nforward_auth: [{ mode: ingress_nginx, browser: »true }]',
    "forward_auth[0].browser: can't be true for ingress_nginx, whose auth-signin makes a redirect of every 401, those of programs too (true)",
  ],
];

testRows([...origins, ...routes, ...decisions]);

t.test('routes of other hosts are apart from each other', async (t) => {
  const { config } = loadGood(
    t,
    withRoutes(
      '[ https://wiki.example.com:8443, "https://*.preview.example.dev", https://10.0.0.1, "https://[2001:db8::1]:8443", https://a_b.example ]',
      '{ prefix: /, upstream: app }',
      '{ prefix: /, upstream: app, host: wiki.example.com }',
      '{ prefix: /api/login, upstream: app, host: wiki.example.com }',
      '{ prefix: /.well-known, upstream: none, host: "*.preview.example.dev" }',
      '{ prefix: /files, upstream: app, strip_prefix: /files, host: 10.0.0.1 }',
      '{ prefix: /, upstream: app, host: "[2001:db8::1]" }',
      '{ exact: /api, upstream: app, host: a_b.example }',
    ),
  );
  t.equal(config.hosts?.length, 5);
  t.equal(loadGood(t, '').config.hosts, undefined, 'none by default');
});

t.test('http on loopback', async (t) => {
  const hosts =
    '[ http://wiki.localhost:8080, "http://*.preview.localhost:8080", http://127.0.0.2:8080, "http://[::1]" ]';
  const folder = t.testdir({
    'postern.yaml': `${local}hosts: ${hosts}\n${app}routes: [{ prefix: /, upstream: app }]\n`,
  });
  t.strictSame(loadConfig(join(folder, 'postern.yaml'), env).problems, undefined);
});

t.test('a sign-in leads to / only where the route is base_url’s', async (t) => {
  const home = (...lines: string[]) => loadGood(t, withRoutes(entries, ...lines)).config.web?.home;
  const ofWiki = '{ prefix: /, upstream: app, browser: true, host: wiki.example.com }';
  t.equal(home(ofWiki), undefined);
  t.equal(home(ofWiki, '{ prefix: /, upstream: app, browser: true }'), '/');
  t.equal(
    home(
      '{ exact: /, upstream: app, host: wiki.example.com }',
      '{ prefix: /, upstream: app, browser: true }',
    ),
    '/',
  );
});

function warningsOf(t: Test, yaml: string): readonly string[] {
  const folder = t.testdir({ 'postern.yaml': `${yaml}\n${required}trusted_proxies: []\n` });
  const { problems = [], warnings = [] } = loadConfig(join(folder, 'postern.yaml'), env);
  t.strictSame(problems, []);
  return warnings.map(({ key, rule }) => `${key}: ${rule}`);
}

t.test('entries without a route, and proxies that lead no one to the sign-in, are warnings', async (t) => {
  const noRoute = (index: number, name: string) =>
    `hosts[${index}]: has no route: add host: ${name} to the routes that are of this host, or remove it`;
  const ofWiki = '{ prefix: /, upstream: app, browser: true, host: wiki.example.com }';
  t.strictSame(warningsOf(t, withRoutes(entries, '{ prefix: /, upstream: app }', ofWiki)), [
    noRoute(1, '"*.preview.example.dev"'),
  ]);
  t.strictSame(warningsOf(t, withRoutes('[ https://wiki.example.com, https://a.example.com ]', ofWiki)), [
    noRoute(1, 'a.example.com'),
  ]);
  const printAgain =
    'has no browser: true, so its proxy leads no one to the sign-in of hosts: add it, and print the configuration of the proxy again, because one that was printed before there were hosts is 400';
  const cannot =
    "has no browser: true, so its proxy leads no one to the sign-in of hosts: ingress_nginx can't have it: use another mode for people";
  const listeners =
    'forward_auth: [{ mode: nginx }, { mode: ingress_nginx, port: 8082 }, { mode: traefik, port: 8083, browser: true }]\n';
  t.strictSame(warningsOf(t, `${listeners}${withRoutes('[ https://wiki.example.com ]', ofWiki)}`), [
    `forward_auth[0]: ${printAgain}`,
    `forward_auth[1]: ${cannot}`,
  ]);
  t.strictSame(
    warningsOf(
      t,
      'web: {}\nforward_auth: [{ mode: nginx }]\nupstreams: { app: { url: builtin:echo } }\nroutes: [{ prefix: /, upstream: app, browser: true }]',
    ),
    [],
    'without hosts, a proxy may ask for programs alone',
  );
});

t.test('pages of one host call no route of another', async (t) => {
  const page = '{ prefix: /, upstream: app, browser: true, host: wiki.example.com }';
  const call = (host: string) => `{ prefix: /data, upstream: app${host} }`;
  t.strictSame(warningsOf(t, withRoutes('[ https://wiki.example.com ]', page, call(''))), []);
  t.strictSame(
    warningsOf(t, withRoutes('[ https://wiki.example.com ]', page, call(', host: wiki.example.com'))),
    [
      "routes[1]: pages below / can't call /data with the web cookie (401): add browser: true, or browser: false if they don't",
    ],
  );
});

t.test('an upstream by the name of a host leads back', async (t) => {
  const yaml =
    'web: {}\nhosts: [ https://wiki.example.com, https://a.example.com ]\nupstreams: { app: { url: https://wiki.example.com }, b: { url: https://a.example.com }, c: { url: https://a.example.com:8443 } }\nroutes: [{ prefix: /, upstream: app, browser: true, host: wiki.example.com }, { prefix: /, upstream: b, host: a.example.com, browser: true }]';
  const leadsBack = (key: string, origin: string) =>
    `upstreams.${key}.url: is ${origin}: requests that come back to Postern are 508; name the service itself`;
  t.strictSame(warningsOf(t, yaml), [leadsBack('app', 'hosts[0]'), leadsBack('b', 'hosts[1]')]);
});

t.test('a start page that the hosts have taken along leads nowhere', async (t) => {
  const page = (host: string) => `{ prefix: /, upstream: app, browser: true${host} }`;
  const ofWiki = page(', host: wiki.example.com');
  const yaml = (home: string, ...routes: string[]) =>
    withRoutes('[ https://wiki.example.com ]', ...routes).replace('web: {}', `web: { home: ${home} }`);
  const leavesNothing =
    'web.home: has no route at the host of base_url, so people find nothing there: leave it out for the page of Postern';
  for (const home of ['/', '/app/', '/app?x=1'])
    t.strictSame(warningsOf(t, yaml(home, ofWiki)), [leavesNothing], home);
  t.strictSame(warningsOf(t, yaml('/postern/', ofWiki)), [], 'Postern’s own page');
  t.strictSame(warningsOf(t, yaml('/app/', page(''), ofWiki)), []);
  t.strictSame(warningsOf(t, yaml('/', '{ exact: /, upstream: app, browser: true }', ofWiki)), []);
  t.strictSame(warningsOf(t, yaml('/x', '{ exact: /app, upstream: app, browser: true }', ofWiki)), [
    leavesNothing,
  ]);
  t.strictSame(warningsOf(t, yaml('/x', '{ prefix: /app, upstream: app, browser: true }', ofWiki)), [
    leavesNothing,
  ]);
});

t.test('an entry with another port than base_url is a warning', async (t) => {
  const hosts = ['https://a.example.com', 'https://b.example.com:8443', '"https://*.c.example.com:8443"'];
  const routes = ['a.example.com', 'b.example.com', '*.c.example.com'].map(
    (host) => `{ prefix: /, upstream: app, browser: true, host: "${host}" }`,
  );
  const leads = (index: number) =>
    `hosts[${index}]: leads people to port 8443 after a sign-in, and base_url has 443: name the port that they use`;
  t.strictSame(warningsOf(t, withRoutes(`[ ${hosts.join(', ')} ]`, ...routes)), [leads(1), leads(2)]);
});

t.test('a certificate for some of the names is a warning', async (t) => {
  if (!requireProgram(t, 'openssl')) return;
  const folder = makeTemporaryFolder('postern-names-');
  t.teardown(() => rmSync(folder, { recursive: true }));
  const route = (host: string) => `{ prefix: /, upstream: app, browser: true, host: "${host}" }`;
  const yaml = withRoutes(entries, route('wiki.example.com'), route('*.preview.example.dev'));
  const warned = (...names: string[]) => {
    const { certFile, keyFile } = makeCertificate(folder, 'gate', names);
    return warningsOf(t, `listen: { tls: { cert: ${certFile}, key: ${keyFile} } }\n${yaml}`);
  };
  const all = ['DNS:acme.example.com', 'DNS:wiki.example.com', 'DNS:*.preview.example.dev'];
  t.strictSame(warned(...all), []);
  t.strictSame(warned('DNS:acme.example.com', 'DNS:a.preview.example.dev'), [
    'listen.tls.cert: has no name for wiki.example.com, *.preview.example.dev: browsers will warn',
  ]);
  t.strictSame(warned('DNS:postern.internal'), [], 'a proxy has those that browsers see');
});
