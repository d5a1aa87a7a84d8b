import type { WrongConfiguration } from './wrong-configuration.ts';

/** Values that are wrong beside others, or for the files they name. */
export const wrongRelations: readonly WrongConfiguration[] = [
  [
    'a tenant with spaces',
    'tenant: "not a tenant"\nbase_url: http://a.example',
    '1:9: tenant: must be 1 to 63 of A-Z, a-z, 0-9, . _ - (not a tenant)',
  ],
  ['a section twice', 'listen: { port: 1 }\nlisten: { port: 2 }', '2:1: listen: duplicate key'],
  [
    'a public route with scopes',
    'upstreams: { app: { url: builtin:echo } }\nroutes: [{ prefix: /, upstream: app, public: true, scopes: [] }]',
    "2:52: routes[0].scopes: can't be combined with public: true",
  ],
  [
    'a challenge for keys by Basic, which are not accepted',
    'upstreams: { app: { url: builtin:echo } }\nroutes: [{ prefix: /, upstream: app, challenge: basic }]',
    '2:49: routes[0].challenge: requires api_keys.basic: true (basic)',
  ],
  [
    'an Authorization of the application that is dropped',
    'upstreams: { app: { url: builtin:echo } }\nroutes: [{ prefix: /, upstream: app, authorization: drop }]',
    '2:53: routes[0].authorization: must be pass (drop)',
  ],
  [
    'an Authorization of the application beside one that is fixed',
    'upstreams: { app: { url: "http://127.0.0.1:9", headers: { authorization: geheim } } }\nroutes: [{ prefix: /, upstream: app, authorization: pass }]',
    "2:53: routes[0].authorization: can't be combined with authorization in upstreams.app.headers (pass)",
  ],
  [
    'a prefix without its slash',
    'upstreams: { app: { url: builtin:echo } }\nroutes: [{ prefix: api, upstream: app }]',
    '2:20: routes[0].prefix: must begin with / (api)',
  ],
  [
    'a prefix with a wildcard',
    'upstreams: { app: { url: builtin:echo } }\nroutes: [{ prefix: /api/*, upstream: app }]',
    '2:20: routes[0].prefix: must be a plain path, without wildcards and templates: a prefix covers all paths below it (/api/*)',
  ],
  [
    'a method in lower case',
    'upstreams: { app: { url: builtin:echo } }\nroutes: [{ prefix: /, upstream: app, scopes: { get: [] } }]',
    '2:48: routes[0].scopes.get: unknown key: did you mean "GET"?',
  ],
  [
    'a scope that is not in a list',
    'upstreams: { app: { url: builtin:echo } }\nroutes: [{ prefix: /, upstream: app, scopes: { read: store:read } }]',
    '2:54: routes[0].scopes.read: must be a list (store:read)',
  ],
  [
    'a size in decimal units',
    'upstreams: { app: { url: builtin:echo } }\nroutes: [{ prefix: /, upstream: app, max_body: 10MB }]',
    '2:48: routes[0].max_body: must be a size such as 512, 64KiB, 10MiB or 1GiB (10MB)',
  ],
  [
    'yes in place of true',
    'upstreams: { app: { url: builtin:echo } }\nroutes: [{ prefix: /, upstream: app, public: yes }]',
    '2:46: routes[0].public: must be true or false (yes)',
  ],
  [
    'a wildcard for origins',
    'cors: { origins: ["*"] }',
    '1:19: cors.origins[0]: must be an exact origin such as https://app.example.com (*)',
  ],
  [
    'an origin with a slash',
    'cors: { origins: ["https://app.example.com/"] }',
    '1:19: cors.origins[0]: must be an exact origin such as https://app.example.com (https://app.example.com/)',
  ],
  [
    'SameSite=None over http',
    'tenant: a\nbase_url: http://a.example\nsessions: { cookie: { same_site: none } }',
    '3:34: sessions.cookie.same_site: requires a Secure cookie: an https base_url or secure: true (none)',
  ],
  [
    'one port for both listeners',
    'listen: { host: 127.0.0.1, port: 9090 }',
    '1:34: listen.port: is the port of the other listener (9090)',
  ],
  [
    'an upstream that is Postern itself',
    'upstreams: { app: { url: http://127.0.0.1:9090 } }',
    "1:26: upstreams.app.url: is Postern's own address (management): requests would come back (http://127.0.0.1:9090)",
  ],
  [
    'a fixed header that Postern sets itself',
    'upstreams: { app: { url: "http://127.0.0.1:9", headers: { X-Auth-Subject: root } } }',
    '1:59: upstreams.app.headers.X-Auth-Subject: is a name that Postern checks, sets or drops',
  ],
  [
    'a fixed header for the echo',
    'upstreams: { app: { url: builtin:echo, headers: { X-Secret: geheim } } }',
    "1:40: upstreams.app.headers: can't be combined with builtin:echo, which shows them",
  ],
  [
    'CORS that is the upstream’s own, twice',
    'upstreams: { app: { url: builtin:echo } }\nroutes: [{ prefix: /, upstream: app, cors: upstream, preflight: upstream }]',
    "2:54: routes[0].preflight: can't be combined with cors: upstream, which includes it",
  ],
  [
    'a role that depends on a name that is no list',
    'upstreams: { app: { url: builtin:echo, identity_headers: { X-Role: { from: username, first: [{ ada: Admin }] } } } }',
    '1:86: upstreams.app.identity_headers.X-Role.first: requires from: scope_sets, service_scopes or claim:NAME',
  ],
  [
    'a claim that no provider keeps',
    'identity_providers: { idp: { issuer: https://idp.example, client_id: a, redirect_uri: https://a.example/, keep: { group: groups } } }\nupstreams: { app: { url: builtin:echo, identity_headers: { X-Groups: claim:groups } } }',
    '2:70: upstreams.app.identity_headers.X-Groups: is kept by no provider: add groups to identity_providers.NAME.keep (claim:groups)',
  ],
  [
    'a base_url with a path',
    'tenant: a\nbase_url: https://host.example/acme',
    '2:11: base_url: must not have a user, path, query or fragment (https://host.example/acme)',
  ],
  [
    'a base_url without a scheme',
    'tenant: a\nbase_url: acme.example.com',
    '2:11: base_url: must be an http:// or https:// URL (acme.example.com)',
  ],
  ['no routes at all', 'tenant: a\nbase_url: http://a.example\n#routes:', '1:1: routes: is required'],
  [
    'an empty list of routes',
    'upstreams: { app: { url: builtin:echo } }\nroutes: []',
    '2:9: routes: must have at least one route',
  ],
  [
    "a prefix in an area of Postern's own",
    'upstreams: { app: { url: builtin:echo } }\nroutes: [{ prefix: /api/login, upstream: app, public: true }]',
    '2:20: routes[0].prefix: is in /api/login, which Postern serves itself (/api/login)',
  ],
  [
    "a path of Postern's own",
    'upstreams: { app: { url: builtin:echo } }\nroutes: [{ exact: /api/logout, upstream: app }]',
    '2:19: routes[0].exact: is in /api/logout, which Postern serves itself (/api/logout)',
  ],
  [
    'a route that another one leaves nothing',
    'paths: { semicolons: pass }\nupstreams: { app: { url: builtin:echo } }\nroutes: [{ prefix: "/a;b/c", upstream: app }, { prefix: /a/c, upstream: app }]',
    '3:20: routes[0].prefix: never matches: servers may read it as routes[1].prefix, which is closer (/a;b/c)',
  ],
  [
    'a certificate and a key that are not there',
    'listen: { tls: { cert: none.crt, key: none.key } }',
    "1:24: listen.tls.cert: can't be read: no such file (ENOENT) (none.crt)",
    "1:39: listen.tls.key: can't be read: no such file (ENOENT) (none.key)",
  ],
  [
    'a key of another certificate',
    'listen: { tls: { cert: first.crt, key: second.key } }',
    '1:40: listen.tls.key: must be the private key of the first certificate in cert (second.key)',
  ],
  [
    'a file that is not a certificate',
    'listen: { tls: { cert: notes.txt, key: first.key } }',
    '1:24: listen.tls.cert: must contain a PEM certificate (notes.txt)',
  ],
  [
    'an authority that is not there',
    'upstreams: { app: { url: "https://127.0.0.1:9", tls: { ca: none.pem } } }',
    "1:60: upstreams.app.tls.ca: can't be read: no such file (ENOENT) (none.pem)",
  ],
  [
    'TLS towards a plain upstream',
    'upstreams: { app: { url: "http://127.0.0.1:9", tls: { ca: first.crt } } }',
    '1:48: upstreams.app.tls: requires an https:// url',
  ],
  [
    'a client certificate without its key',
    'upstreams: { app: { url: "https://127.0.0.1:9", tls: { cert: first.crt } } }',
    '1:62: upstreams.app.tls.cert: requires key (first.crt)',
  ],
  [
    'records in a file that is not a database',
    'stores: { records: "sqlite:notes.txt" }',
    '1:20: stores.records: FOLDER/notes.txt is corrupt or not an SQLite database',
  ],
  [
    'records in a folder',
    'stores: { records: "sqlite:folder" }',
    '1:20: stores.records: FOLDER/folder is a folder',
  ],
  [
    'sessions below a file',
    'stores: { sessions: "sqlite:notes.txt/a/b.db" }',
    "1:21: stores.sessions: FOLDER/notes.txt/a/b.db can't be created: FOLDER/notes.txt is a file",
  ],
  [
    'both stores in one file',
    'stores: { records: "sqlite:one.db", sessions: "sqlite:one.db" }',
    '1:47: stores.sessions: must be another file than stores.records',
  ],
  [
    'a provider without an issuer',
    'identity_providers: { idp: { client_id: a, redirect_uri: https://a.example/ } }',
    '1:23: identity_providers.idp.issuer: is required',
  ],
  [
    'a provider over plain http',
    'identity_providers: { idp: { issuer: http://idp.example, client_id: a, redirect_uri: https://a.example/ } }',
    '1:38: identity_providers.idp.issuer: must be https:// unless on loopback (http://idp.example)',
  ],
  [
    'a provider with a reserved name',
    'identity_providers: { access-token: { issuer: https://idp.example, client_id: a, redirect_uri: https://a.example/ } }',
    "1:23: identity_providers.access-token: is reserved: a provider can't be named access-token, refresh-token, invitation, token, revoke, register, device, passkey, client or password",
  ],
  [
    'a provider with an unknown response',
    'identity_providers: { idp: { issuer: https://idp.example, client_id: a, redirect_uri: https://a.example/, response: token } }',
    '1:117: identity_providers.idp.response: must be one of id_token, code (token)',
  ],
  [
    'a proxy by its name',
    'trusted_proxies: [lb.example.com]',
    '1:19: trusted_proxies[0]: must be an IP address or a CIDR block (lb.example.com)',
  ],
  [
    'a kept claim with a broken JSON Pointer',
    'identity_providers: { idp: { issuer: https://idp.example, client_id: a, redirect_uri: https://a.example/, keep: { dept: /org/~dept } } }',
    '1:121: identity_providers.idp.keep.dept: must be the name of a claim or, beginning with /, a JSON Pointer, in which ~0 stands for ~ and ~1 for / (/org/~dept)',
  ],
  [
    'a claim kept under a name in capitals',
    'identity_providers: { idp: { issuer: https://idp.example, client_id: a, redirect_uri: https://a.example/, keep: { Dept: dept } } }',
    '1:115: identity_providers.idp.keep.Dept: must be a name of 1 to 32 of a-z, 0-9 and _',
  ],
  [
    'one proxy that is not in a list',
    'trusted_proxies: 10.0.0.0/8',
    '1:18: trusted_proxies: must be a list (10.0.0.0/8)',
  ],
  [
    'a short activation token',
    'bootstrap: { token: short }',
    '1:21: bootstrap.token: must be at least 20 characters',
  ],
  [
    'an unknown log level',
    'log: { level: verbose }',
    '1:15: log.level: must be one of trace, debug, info, warn, error, fatal, silent (verbose)',
  ],
  [
    'too little memory for its lanes',
    'passwords: { memory: 8KiB, parallelism: 4 }',
    '1:22: passwords.memory: memory must be at least 8KiB per lane (parallelism) (8KiB)',
  ],
  [
    'an endpoint served by nobody known',
    'endpoints: { users: postern }',
    '1:21: endpoints.users: must be one of own, upstream, off (postern)',
  ],
  [
    'a route with two paths',
    'upstreams: { app: { url: builtin:echo } }\nroutes: [{ prefix: /a, exact: /a, upstream: app }]',
    "2:24: routes[0].exact: can't be combined with prefix",
  ],
  [
    'a stripped prefix that is not the beginning of its path',
    'upstreams: { app: { url: builtin:echo } }\nroutes: [{ prefix: /files, upstream: app, strip_prefix: /file }]',
    "2:57: routes[0].strip_prefix: must be the route's path, /files, or its first segments (/file)",
  ],
  [
    'two routes to one server, one of which opens what the other guards',
    'upstreams: { a: { url: "http://localhost:9000" }, b: { url: "http://127.0.0.1:9000" } }\nroutes: [{ prefix: /files, upstream: a, strip_prefix: /files, public: true }, { prefix: /admin, upstream: b }]',
    '2:55: routes[0].strip_prefix: reaches by another path what routes[1].prefix reaches on the same server, and one would open what the other guards: strip and prepend the same for both, or separate their paths there (/files)',
  ],
  [
    'a spelling that another proxy may change after it has asked',
    'forward_auth: [{ mode: traefik }]\nupstreams: { app: { url: builtin:echo } }\nroutes: [{ prefix: /, upstream: app, paths: { encoded_delimiters: pass } }]',
    "3:67: routes[0].paths.encoded_delimiters: can't be pass while traefik asks for decisions (forward_auth[0]): it is not shown to forward such paths byte for byte (pass)",
  ],
  [
    'a spelling that the route of a path refuses',
    'paths: { semicolons: pass }\nupstreams: { app: { url: builtin:echo } }\nroutes: [{ prefix: "/a;b", upstream: app, paths: { semicolons: refuse } }]',
    '3:20: routes[0].prefix: must not contain ; while paths.semicolons is refuse (/a;b)',
  ],
  [
    'a route without a path',
    'upstreams: { app: { url: builtin:echo } }\nroutes: [{ upstream: app }]',
    '2:10: routes[0]: must have prefix or exact',
  ],
  [
    'a list in place of a map',
    'upstreams: [{ url: builtin:echo }]\nroutes: [{ prefix: /, upstream: app }]',
    '1:12: upstreams: must be a map',
  ],
  [
    'a cookie name with a space',
    'sessions: { cookie: { name: "a b" } }',
    "1:29: sessions.cookie.name: must be a token (RFC 6265): letters, digits and !#$%&'*+-.^_`|~ (a b)",
  ],
  [
    'a session that counts for too short a time',
    'sessions: { stale_if_error: 1s }',
    '1:29: sessions.stale_if_error: must be at least stores.sessions_liveness_age, 5s (1s)',
  ],
  [
    'an unknown algorithm',
    'tokens: { algorithm: HS256 }',
    '1:22: tokens.algorithm: must be one of ES256, EdDSA, RS256 (HS256)',
  ],
  [
    'an API above the pages',
    'api_path: /staff\nweb: { path: /staff/pages }',
    '1:11: api_path: must be neither web.path, /staff/pages, nor above it (/staff)',
  ],
  [
    'an API among the pages',
    'api_path: /postern/console\nweb: {}',
    "1:11: api_path: can't be in /postern/console: pages are there (/postern/console)",
  ],
  [
    'pages in the API',
    'web: { path: /api/pages }',
    "1:14: web.path: can't be in /api, which is api_path (/api/pages)",
  ],
  [
    'a refresh cookie for another path than the API',
    'api_path: /gate/api\nsessions: { cookie: { path: /api } }',
    '2:29: sessions.cookie.path: must be api_path, /gate/api, or above it: no request to the API would have the cookie (/api)',
  ],
  [
    'a route where the API is',
    'api_path: /gate\nupstreams: { app: { url: builtin:echo } }\nroutes: [{ prefix: /gate/x, upstream: app }]',
    '3:20: routes[0].prefix: is in /gate, which Postern serves itself (/gate/x)',
  ],
];
