/**
 * A mistake as people make it, in a configuration, and what `check` says of it, with line and column: `LINE:COLUMN: key: rule`, or
 * `LINE:COLUMN: warning: key: rule` if the configuration is accepted.
 */
export type Mistake = readonly [sentence: string, yaml: string, ...lines: readonly string[]];

const local = 'tenant: acme\nbase_url: http://127.0.0.1:8080\n';
const app = 'upstreams: { app: { url: http://127.0.0.1:9000 } }\n';
const start = local + app;
const all = 'routes: [{ prefix: /, upstream: app }]\n';
const pages = `${start}web: { title: Orders }\nroutes:\n`;

/** Mistakes that stop `check` and `serve`. */
export const refusedMistakes: readonly Mistake[] = [
  [
    'a misspelt section',
    `${local}upstream: { app: { url: http://127.0.0.1:9000 } }\n${all}`,
    '3:1: upstream: unknown key: did you mean "upstreams"?',
  ],
  [
    'a misspelt scope',
    `${start}scopes: { stock:read: Read }\nroutes: [{ prefix: /, upstream: app, scopes: [stock:raed] }]\n`,
    '5:47: routes[0].scopes[0]: must be a scope in the catalogue: did you mean "stock:read"? (stock:raed)',
  ],
  [
    'a method in lower case',
    `${start}scopes: { stock:read: Read }\nroutes: [{ prefix: /, upstream: app, scopes: { get: [stock:read] } }]\n`,
    '5:48: routes[0].scopes.get: unknown key: did you mean "GET"?',
  ],
  [
    'a port in quotes',
    `${start}${all}listen: { port: "8081" }\n`,
    '5:17: listen.port: must be a whole number from 0 to 65535, without quotes ("8081")',
  ],
  [
    'a tab as indentation',
    `${start}routes:\n\t- { prefix: /, upstream: app }\n`,
    '5:1: configuration: is not valid YAML: tab as indentation, use spaces',
  ],
  [
    'a brace that is not closed',
    `${start}routes: [{ prefix: /, upstream: app ]\n`,
    '4:37: configuration: is not valid YAML: wrong indentation, or a { or [ above is not closed',
    '4:38: configuration: is not valid YAML: wrong indentation, or a { or [ above is not closed',
  ],
  [
    'weeks',
    `${start}${all}sessions: { idle_lifetime: 2w }\n`,
    '5:28: sessions.idle_lifetime: must be a duration such as 500ms, 10s, 15m, 12h or 30d (2w)',
  ],
  [
    'an asterisk in a path',
    `${start}routes: [{ prefix: /api/*, upstream: app }]\n`,
    '4:20: routes[0].prefix: must be a plain path, without wildcards and templates: a prefix covers all paths below it (/api/*)',
  ],
  [
    'a path twice',
    `${start}routes:\n  - { prefix: /api, upstream: app }\n  - { prefix: /api/, upstream: app }\n`,
    '6:15: routes[1].prefix: duplicates routes[0].prefix (/api/)',
  ],
  [
    'a route of Postern itself',
    `${start}routes: [{ prefix: /api/login, upstream: app }]\n`,
    '4:20: routes[0].prefix: is in /api/login, which Postern serves itself (/api/login)',
  ],
  [
    'pages without web',
    `${start}routes: [{ prefix: /, upstream: app, browser: true }]\n`,
    '4:38: routes[0].browser: requires web',
  ],
  [
    'a public route that wants scopes',
    `${start}scopes: { a: A }\nroutes: [{ prefix: /, upstream: app, public: true, scopes: [a] }]\n`,
    "5:52: routes[0].scopes: can't be combined with public: true",
  ],
  [
    'a certificate that is not there',
    `${start}${all}listen: { tls: { cert: tls.crt, key: tls.key } }\n`,
    "5:24: listen.tls.cert: can't be read: no such file (ENOENT) (tls.crt)",
    "5:38: listen.tls.key: can't be read: no such file (ENOENT) (tls.key)",
  ],
  [
    'an upstream by HTTP/2',
    `${local}upstreams: { app: { url: h2c://127.0.0.1:9000 } }\n${all}`,
    '3:26: upstreams.app.url: must be http(s)://HOST:PORT without user and query, unix:PATH or builtin:echo (h2c://127.0.0.1:9000)',
  ],
  [
    'an upstream with a slash at its end',
    `${local}upstreams: { app: { url: http://127.0.0.1:9000/app/ } }\n${all}`,
    '3:26: upstreams.app.url: must not end with a slash: http://127.0.0.1:9000/app (http://127.0.0.1:9000/app/)',
  ],
  [
    'an upstream without a scheme',
    `${local}upstreams: { app: { url: 127.0.0.1:9000 } }\n${all}`,
    '3:26: upstreams.app.url: must be http(s)://HOST:PORT without user and query, unix:PATH or builtin:echo (127.0.0.1:9000)',
  ],
  [
    'an upstream that is Postern',
    `${local}upstreams: { app: { url: http://localhost:8080 } }\n${all}`,
    "3:26: upstreams.app.url: is Postern's own address (listen): requests would come back (http://localhost:8080)",
  ],
  [
    'a misspelt upstream',
    `${start}routes: [{ prefix: /, upstream: ap }]\n`,
    '4:33: routes[0].upstream: must be the name of an upstream: app (ap)',
  ],
  [
    'a misspelt upstream of several',
    `${local}upstreams: { orders: { url: http://127.0.0.1:9000 }, stock: { url: http://127.0.0.1:9001 } }\nroutes: [{ prefix: /, upstream: ordres }, { prefix: /b, upstream: app }]\n`,
    '4:33: routes[0].upstream: must be the name of an upstream: did you mean "orders"? (ordres)',
    '4:67: routes[1].upstream: must be the name of an upstream: one of orders, stock (app)',
  ],
  [
    'CORS for everyone',
    `${start}${all}cors: { origins: ["*"] }\n`,
    '5:19: cors.origins[0]: must be an exact origin such as https://app.example.com (*)',
  ],
  [
    'two listeners on a port',
    `${start}${all}management: { port: 8080 }\n`,
    '5:21: management.port: is the port of the other listener (8080)',
  ],
  [
    'a colon in a text',
    `${start}${all}scopes: { a: b: c }\n`,
    '5:14: configuration: is not valid YAML: a string that contains ": " needs quotes, and a { or [ has no lists with -',
  ],
  [
    'an empty file',
    '',
    '1:1: configuration: is empty: "postern init" writes a first one',
    '1:1: tenant: is required',
    '1:1: base_url: is required',
    '1:1: routes: is required',
  ],
  [
    'placeholders as in a Compose file',
    `tenant: \${TENANT}\nbase_url: http://\${HOST:-localhost}:8080\n${app}${all}bootstrap: { token: "\${TOKEN}" }\n`,
    '1:9: tenant: has a placeholder, which stays as it is: write { env: NAME } for the whole value',
    '2:11: base_url: has a placeholder, which stays as it is: write { env: NAME } for the whole value',
    '5:21: bootstrap.token: has a placeholder, which stays as it is: write { env: NAME } for the whole value',
  ],
  [
    'a base_url with a path',
    `tenant: acme\nbase_url: http://127.0.0.1:8080/app\n${app}${all}`,
    '2:11: base_url: must not have a user, path, query or fragment (http://127.0.0.1:8080/app)',
  ],
  [
    'a variable that is not set',
    `tenant: acme\nbase_url: { env: NOT_SET }\n${app}${all}`,
    '2:11: base_url: environment variable NOT_SET is not set',
  ],
  [
    'the file of oauth2-proxy',
    'http_address = "0.0.0.0:4180"\nupstreams = ["http://127.0.0.1:9000"]\n',
    '1:1: configuration: must be a map (http_address = "0.0.0.0:4180" upstreams = ["http://127.0.0.1:9000"])',
  ],
];

/** Mistakes that leave something to serve: warnings. */
export const acceptedMistakes: readonly Mistake[] = [
  [
    'an API below pages, which they can’t call',
    `${pages}- { prefix: /, upstream: app, browser: true }\n- { prefix: /api, upstream: app }\n`,
    "7:3: warning: routes[1]: pages below / can't call /api with the web cookie (401): add browser: true, or browser: false if they don't",
  ],
  [
    'the same below a part of the site',
    `${pages}- { prefix: /shop, upstream: app, browser: true }\n- { exact: /shop/api, upstream: app, accept: session }\n- { prefix: /shops, upstream: app }\n`,
    "7:3: warning: routes[1]: pages below /shop can't call /shop/api with the web cookie (401): add browser: true, or browser: false if they don't",
  ],
  [
    'pages that lead to no service',
    `${pages}- { prefix: /, upstream: app }\n`,
    '4:1: warning: web: leads people to no service: add browser: true to the routes that they open, unless these pages are for passwords alone (then set home)',
  ],
  [
    'pages that lead to the console alone: no mistake',
    `${start}${all}web: { console: { base_url: "http://console.localhost:8080" } }\n`,
  ],
  ['pages with a destination: no mistake', `${start}${all}web: { home: /postern/ }\n`],
  [
    'an API that is certainly for programs: no mistake',
    `${pages}- { prefix: /, upstream: app, browser: true }\n- { prefix: /api, upstream: app, browser: false }\n- { prefix: /keys, upstream: app, accept: api_key }\n- { prefix: /open, upstream: app, public: true }\n- { exact: /called, upstream: app, browser: true }\n`,
  ],
  [
    'a public name by http',
    `tenant: acme\nbase_url: http://stock.example.com\n${app}${all}`,
    '2:11: warning: base_url: is http: passwords, tokens and cookies can be read and changed on their way; use https (http://stock.example.com)',
  ],
  [
    'keys by Basic, by http',
    `tenant: acme\nbase_url: http://stock.example.com\n${app}${all}api_keys: { basic: true }\n`,
    '2:11: warning: base_url: is http: passwords, tokens and cookies can be read and changed on their way; use https (http://stock.example.com)',
    "5:20: warning: api_keys.basic: lets pages of other sites use a key that a browser keeps, because over http browsers don't say which page makes a request: use an https base_url (true)",
  ],
  ['keys by Basic on this machine: no mistake', `${start}${all}api_keys: { basic: true }\n`],
  [
    'this machine by http, and a console that is not on it',
    `tenant: acme\nbase_url: http://acme.localhost:8080\n${app}${all}web: { console: { base_url: "http://10.0.0.5:8080" } }\n`,
    '5:29: warning: web.console.base_url: is http: passwords, tokens and cookies can be read and changed on their way; use https (http://10.0.0.5:8080)',
  ],
  [
    'a proxy that ends TLS and is not trusted',
    `tenant: acme\nbase_url: https://stock.example.com\n${app}${all}`,
    '2:11: warning: base_url: is https, but listen has no tls: list the proxy that ends TLS in trusted_proxies, or X-Forwarded-For and -Proto are ignored: all clients share its address in log and throttle, and services are told http; [] accepts that (https://stock.example.com)',
  ],
  [
    'one that is, or has nothing to tell: no mistake',
    `tenant: acme\nbase_url: https://stock.example.com\ntrusted_proxies: []\n${app}${all}`,
  ],
  [
    'a proxy that must be on this machine, where others are trusted',
    `tenant: acme\nbase_url: https://stock.example.com\nlisten: { host: 127.0.0.1 }\ntrusted_proxies: [10.0.0.0/8, "2001:db8::1"]\n${app}${all}`,
    '4:1: warning: trusted_proxies: has no address of this machine, but only a proxy here reaches listen.host: add it, or X-Forwarded-For and -Proto are ignored: all clients share its address in log and throttle, and services are told http',
  ],
  ...['127.0.0.1', '"::1"', '127.0.0.0/8', '"::ffff:127.0.0.1"', '0.0.0.0/2, 127.0.0.0/30'].map(
    (block): Mistake => [
      `one on this machine that is trusted (${block}): no mistake`,
      `tenant: acme\nbase_url: https://stock.example.com\nlisten: { host: "::1" }\ntrusted_proxies: [10.0.0.0/8, ${block}]\n${app}${all}`,
    ],
  ),
  [
    'an upstream by Postern’s own public name',
    `tenant: acme\nbase_url: https://stock.example.com\ntrusted_proxies: []\nupstreams: { app: { url: https://Stock.example.com }, b: { url: https://stock.example.com:8443 } }\n${all}`,
    '4:26: warning: upstreams.app.url: is base_url: requests that come back to Postern are 508; name the service itself (https://Stock.example.com)',
  ],
  [
    'a scope that nothing asks for',
    `${start}${all}scopes: { stock:raed: Read }\n`,
    '5:11: warning: scopes.stock:raed: no route, user, scope set or grant of this file uses this scope; those in the records are not counted',
  ],
  [
    'proxies that are everyone',
    `${start}${all}trusted_proxies: [0.0.0.0/0]\n`,
    '5:19: warning: trusted_proxies[0]: trusts every address: list only those of your proxies (0.0.0.0/0)',
  ],
  [
    'a console on the origin of a service',
    `${start}${all}web: { console: {} }\n`,
    '5:8: warning: web.console: shares its origin with upstreams: give it a base_url of its own',
  ],
  [
    'a route that nothing asks about',
    `${start}routes: [{ prefix: /, upstream: none }]\n`,
    '4:33: warning: routes[0].upstream: is none, but no forward_auth listener is configured, so nothing uses this route (none)',
  ],
];
