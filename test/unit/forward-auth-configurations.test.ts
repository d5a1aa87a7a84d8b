import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import t from 'tap';
import { parseAllDocuments, stringify } from 'yaml';
import { loadConfig } from '../../src/config/load.ts';
import { decisionModes } from '../../src/config/sections/forward-auth.ts';
import { printedProxies, printProxyConfiguration } from '../../src/forward-auth/printed/configurations.ts';
import { fillTemplate } from '../../src/forward-auth/printed/template.ts';
import { laterNames } from '../../src/rules/known-headers.ts';
import { testConfig } from '../support/gateway/gateway.ts';

const examples = join(import.meta.dirname, '../../examples/forward-auth');
const page = join(import.meta.dirname, '../../docs/forward-auth.md');

/** A listener for each mode, and one upstream with names of its own; `more` replaces top-level keys. */
function config(more: object = {}) {
  const file = join(t.testdir(), 'postern.yaml');
  const settings = {
    listen: { port: 8080 },
    upstreams: { app: { url: 'http://127.0.0.1:9000' } },
    forward_auth: decisionModes.map((mode, index) => ({ mode, port: 8081 + index })),
  };
  writeFileSync(file, stringify({ ...testConfig(''), ...settings, ...more }));
  return loadConfig(file, {}).config!;
}

t.test(
  'examples/forward-auth has the configuration of each proxy as printed; UPDATE=1 rewrites it',
  async (t) => {
    const expected = new Map<string, string>();
    for (const proxy of printedProxies)
      for (const [name, content] of Object.entries(printProxyConfiguration(config(), proxy, {})))
        expected.set(join(proxy, name), content);
    if (process.env.UPDATE)
      for (const [path, content] of expected) {
        mkdirSync(dirname(join(examples, path)), { recursive: true });
        writeFileSync(join(examples, path), content);
      }
    for (const [path, content] of expected)
      t.equal(readFileSync(join(examples, path), 'utf8'), content, path);
    const present = readdirSync(examples, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(examples, join(entry.parentPath, entry.name)));
    t.strictSame(present.sort(), [...expected.keys()].sort());
  },
);

t.test('docs/forward-auth.md links every printed file, and shows one; UPDATE=1 rewrites it', async (t) => {
  const text = readFileSync(page, 'utf8');
  for (const proxy of printedProxies)
    for (const name of Object.keys(printProxyConfiguration(config(), proxy, {})))
      t.match(text, `](../examples/forward-auth/${proxy}/${name})`);
  const block = /(<!-- ingress-nginx: ingress\.yaml -->\n```yaml\n)[\s\S]*?(\n```\n)/;
  t.match(text, block);
  const content = printProxyConfiguration(config(), 'ingress-nginx', {})['ingress.yaml']!;
  const expected = text.replace(block, (_, before, after) => `${before}${content.trimEnd()}${after}`);
  if (process.env.UPDATE) writeFileSync(page, expected);
  t.equal(readFileSync(page, 'utf8'), expected);
});

const hosts = [
  'https://wiki.acme.example.com',
  'https://files.example.org:8443',
  'https://*.preview.acme.dev',
];
/** A service for each host, and people in browsers. */
const ofHosts = {
  web: {},
  hosts,
  upstreams: Object.fromEntries(
    ['app', 'wiki', 'files', 'preview'].map((name) => [name, { url: `http://${name}.internal:9000` }]),
  ),
  routes: [
    { prefix: '/', upstream: 'app', browser: true },
    { host: 'wiki.acme.example.com', prefix: '/', upstream: 'wiki', browser: true },
    { host: 'files.example.org', prefix: '/', upstream: 'files', browser: true },
    { host: '*.preview.acme.dev', prefix: '/', upstream: 'preview', browser: true },
  ],
  forward_auth: decisionModes.map((mode, index) => ({
    ...{ mode, port: 8081 + index },
    browser: mode !== 'ingress_nginx',
  })),
};
const withHosts = printedProxies.filter((proxy) => !['ingress-nginx', 'gateway-api'].includes(proxy));

t.test('examples/forward-auth-hosts has those for several hosts; UPDATE=1 rewrites it', async (t) => {
  const folder = `${examples}-hosts`;
  for (const proxy of withHosts)
    for (const [name, content] of Object.entries(printProxyConfiguration(config(ofHosts), proxy, {}))) {
      const path = join(folder, proxy, name);
      if (process.env.UPDATE) {
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, content);
      }
      t.equal(readFileSync(path, 'utf8'), content, path);
      t.match(readFileSync(page, 'utf8'), `](../examples/forward-auth-hosts/${proxy}/${name})`);
      if (/\.ya?ml$/.test(name))
        for (const { errors } of parseAllDocuments(content)) t.strictSame(errors, [], path);
    }
});

t.test('each host has its service, or the one of --service', async (t) => {
  for (const proxy of withHosts) {
    const print = (options: object) =>
      Object.values(printProxyConfiguration(config(ofHosts), proxy, options)).join('\n');
    for (const name of ['app', 'wiki', 'files', 'preview']) {
      t.match(print({}), `${name}.internal`, `${proxy}: ${name}`);
      t.notMatch(print({ service: 'http://one.internal:9000' }), `${name}.internal`, proxy);
    }
    t.match(print({}), proxy === 'nginx' ? '$postern_host:8443;' : 'files.example.org:8443', proxy);
    const printed = (config: object) => () => printProxyConfiguration(config as never, proxy, {});
    t.doesNotThrow(
      printed(config({ ...ofHosts, web: { console: { base_url: 'https://console.acme.example.com' } } })),
    );
  }
});

t.test('hosts are told apart where a listener has no browser, too, and not without both', async (t) => {
  const { hosts: _, ...withoutHosts } = ofHosts;
  const routes = ofHosts.routes.slice(0, 1);
  const noBrowser = { forward_auth: decisionModes.map((mode, index) => ({ mode, port: 8081 + index })) };
  for (const proxy of withHosts) {
    const print = (more: object) =>
      Object.values(printProxyConfiguration(config(more), proxy, {})).join('\n');
    t.match(print({ ...ofHosts, ...noBrowser }), 'wiki.acme.example.com', proxy);
    t.match(print({ ...withoutHosts, routes }), 'acme.example.com', `${proxy}: base_url alone`);
    t.notMatch(print({ ...withoutHosts, routes, ...noBrowser }), 'acme.example.com', proxy);
  }
  t.throws(() => printProxyConfiguration(config(ofHosts), 'ingress-nginx', {}), {
    message: /^ingress-nginx can't /,
  });
  t.throws(() => printProxyConfiguration(config(ofHosts), 'gateway-api', {}), {
    message: /^gateway-api can't /,
  });
  t.throws(() => printProxyConfiguration(config({ ...ofHosts, ...noBrowser }), 'gateway-api', {}), {
    message: /^gateway-api can't tell hosts apart/,
  });
});

t.test('a template fails for a hole without a value', async (t) => {
  t.throws(() => fillTemplate('server {{decisions}};', {}), { message: 'no value for {{decisions}}' });
  t.throws(() => fillTemplate('{{#tls}}\nssl\n{{/tls}}', {}), { message: 'no value for {{tls}}' });
});

t.test('every printed YAML file parses', async (t) => {
  for (const proxy of printedProxies)
    for (const [name, content] of Object.entries(printProxyConfiguration(config(), proxy, {})))
      if (/\.ya?ml$/.test(name))
        for (const { errors } of parseAllDocuments(content)) t.strictSame(errors, [], `${proxy}: ${name}`);
});

t.test('over TLS the certificate has to be for the host that is connected to', async (t) => {
  const printed = (proxy: (typeof printedProxies)[number], service: string) =>
    Object.values(printProxyConfiguration(config(), proxy, { service })).join('\n');
  const [named, numbered] = ['https://service.example:443', 'https://192.0.2.7:443'];
  t.match(printed('nginx', named), /proxy_ssl_name service\.example;\s+proxy_ssl_verify on;/);
  t.match(printed('haproxy', named), / ssl verify required .* verifyhost service\.example$/m);
  for (const proxy of ['nginx', 'haproxy'] as const)
    t.throws(() => printed(proxy, numbered), { message: /compares names with certificates, no addresses: / });
  for (const proxy of ['envoy', 'envoy-grpc'] as const) {
    t.match(printed(proxy, named), /san_type: DNS\s+matcher:\s+exact: service\.example/, proxy);
    t.match(printed(proxy, numbered), /san_type: IP_ADDRESS\s+matcher:\s+exact: 192\.0\.2\.7/, proxy);
  }
});

t.test('printed configurations copy cookies, and keep reserved names from clients', async (t) => {
  const printed = (proxy: (typeof printedProxies)[number]) =>
    Object.values(printProxyConfiguration(config(), proxy, {})).join('\n');
  const copied: Record<string, RegExp> = {
    nginx: /auth_request_set (\$\w+) \$upstream_http_cookie;[\s\S]*proxy_set_header Cookie \1;/,
    'ingress-nginx': /auth-response-headers: .*,Cookie,/,
    traefik: /authResponseHeaders:(?:\s+- \S+)*\s+- Cookie\n/,
    caddy: /copy_headers .* Cookie\n/,
    haproxy: /local copied = \{.* "cookie" \}/,
    envoy: /allowed_upstream_headers:[\s\S]*- exact: cookie\n/,
    'gateway-api': /allowedResponseHeaders:(?:\s+- \S+)*\s+- Cookie\n/,
  };
  for (const [proxy, pattern] of Object.entries(copied)) t.match(printed(proxy), pattern, proxy);
  // The others delete all with the prefix, or are told which to remove.
  for (const proxy of ['nginx', 'ingress-nginx', 'traefik', 'gateway-api'])
    for (const name of laterNames) t.match(printed(proxy), name.toLowerCase(), `${proxy}: ${name}`);
});

t.test(
  'printed configurations leave an application’s own names, and delete those with fixed values',
  async (t) => {
    const upstreams = {
      app: {
        url: 'http://127.0.0.1:9000',
        headers: { 'X-Shared-Secret': 'geheim', Authorization: 'geheim' },
      },
    };
    const printed = (proxy: (typeof printedProxies)[number], more: object = {}) =>
      Object.values(printProxyConfiguration(config({ upstreams, ...more }), proxy, {})).join('\n');
    const passing = { headers: { pass: ['X-Auth-Token', 'X-Auth-Email'] } };
    for (const proxy of printedProxies) {
      t.notMatch(printed(proxy), /geheim/, proxy);
      t.notMatch(printed(proxy, passing), /X-Auth-\*|x-auth- -m beg/, proxy);
    }
    // Envoy and the controller of ingress-nginx delete nothing before they ask.
    for (const proxy of ['nginx', 'traefik', 'caddy', 'haproxy', 'gateway-api'])
      t.match(printed(proxy), 'x-shared-secret', proxy);
    t.match(printed('caddy'), /request_header -X-Auth-\*\n/);
    t.match(
      printed('caddy', passing),
      /request_header -X-Auth-Subject\n[\s\S]*request_header -x-auth-issuer\n/,
    );
    t.match(printed('haproxy'), /del-header x-auth- -m beg unless is_own\n/);
    t.match(
      printed('haproxy', passing),
      /del-header \^x-auth-\(\?!\(token\|email\)\$\) -m reg unless is_own\n/,
    );
    t.match(
      printed('haproxy', passing),
      /passed = \{ \["x-auth-token"\] = true, \["x-auth-email"\] = true \}/,
    );
    t.match(printed('haproxy', passing), /"x-auth-" and not passed\[name\] and first/);
  },
);

t.test('where a route passes the application’s own Authorization, it is copied like cookies', async (t) => {
  const routes = [
    { prefix: '/own', upstream: 'app', authorization: 'pass' },
    { prefix: '/api', upstream: 'app' },
  ];
  const printed = (proxy: (typeof printedProxies)[number], more: object = { routes }) =>
    Object.values(printProxyConfiguration(config(more), proxy, {})).join('\n');
  const copied: Record<string, RegExp> = {
    nginx:
      /proxy_set_header Authorization \$postern_authorization;[\s\S]*proxy_set_header X-API-Key \$postern_x_api_key;/,
    'ingress-nginx': /auth-response-headers: .*,Cookie,Authorization,X-API-Key,/,
    traefik: /authResponseHeaders:(?:\s+- \S+)*\s+- Cookie\s+- Authorization\s+- X-API-Key\n/,
    caddy: /copy_headers .* Cookie Authorization X-API-Key\n/,
    haproxy: /local copied = \{.* "cookie", "authorization", "x-api-key" \}/,
    envoy: /- exact: authorization\n\s+- exact: x-api-key\n/,
    'gateway-api': /allowedResponseHeaders:(?:\s+- \S+)*\s+- Authorization\s+- X-API-Key\n/,
  };
  for (const [proxy, pattern] of Object.entries(copied)) t.match(printed(proxy), pattern, proxy);
  const hiding: Record<string, string> = {
    nginx: 'proxy_set_header Authorization "";',
    traefik: 'Authorization: ""',
    caddy: 'request_header -Authorization',
    haproxy: 'req_del_header("authorization")',
  };
  for (const [proxy, text] of Object.entries(hiding)) {
    t.notOk(printed(proxy).includes(text), proxy);
    t.ok(printed(proxy, {}).includes(text), `${proxy}, without such a route`);
  }
  t.notMatch(printed('traefik'), /^ *- hide$/m);
  for (const { errors } of parseAllDocuments(printed('traefik'))) t.strictSame(errors, []);
});

t.test('where keys come by Basic, the Gateway API asks with what browsers say of themselves', async (t) => {
  const printed = (more: object) =>
    Object.values(printProxyConfiguration(config(more), 'gateway-api', {})).join('\n');
  const pattern =
    /allowedHeaders:(?:\s+- \S+)*\s+- Origin\s+- Sec-Fetch-Site\s+- Sec-Fetch-Mode\s+- Sec-Fetch-Dest\s+- Accept\n/;
  t.match(printed({ api_keys: { basic: true } }), pattern);
  t.notMatch(printed({}), /Sec-Fetch-Site/);
});

t.test('printed configurations forward a body as it arrives, and have room for added headers', async (t) => {
  const printed = (proxy: (typeof printedProxies)[number]) =>
    Object.values(printProxyConfiguration(config(), proxy, {})).join('\n');
  t.match(printed('nginx'), /proxy_request_buffering off;/);
  t.match(printed('ingress-nginx'), /proxy-request-buffering: "off"/);
  t.match(printed('haproxy'), /tune\.bufsize 65536\s+tune\.maxrewrite 32768/);
});

t.test('a moved API goes to Postern as a whole, and /api is asked about', async (t) => {
  for (const proxy of printedProxies) {
    const print = (more: object) =>
      Object.values(printProxyConfiguration(config(more), proxy, {})).join('\n');
    const printed = print({ api_path: '/postern/api', web: {} });
    t.notMatch(printed, /\/api\/(?:login|admin|self|bootstrap)/, proxy);
    t.equal(printed.includes('/postern/api'), print({}).includes('/api/login'), proxy);
  }
});

t.test('the build copies the templates', async (t) => {
  const script = readFileSync(join(import.meta.dirname, '../../build/bundle.ts'), 'utf8');
  t.match(script, "'src/forward-auth/templates/'");
});
