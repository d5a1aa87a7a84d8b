import { type Row, testRows } from './config-rows.ts';

const app = 'upstreams: { app: { url: builtin:echo } }';
const routes = (...lines: string[]) => `routes:\n${lines.map((line) => `  - ${line}\n`).join('')}${app}`;
const http = 'tenant: a\nbase_url: http://a.example\n';
const https = 'tenant: a\nbase_url: https://a.b.example\n';

const upstreamsAndScopes: Row[] = [
  [
    'a route to an unknown upstream',
    routes('{ prefix: /, upstream: »ap }'),
    'routes[0].upstream: must be the name of an upstream: app (ap)',
  ],
  [
    'a route to a name inherited by every object',
    routes('{ prefix: /, upstream: »constructor }'),
    'routes[0].upstream: must be the name of an upstream: app (constructor)',
  ],
  [
    'a route without any upstreams',
    'routes: [{ prefix: /, upstream: »app }]',
    'routes[0].upstream: must be the name of an upstream: there is none (app)',
  ],
  [
    'a route to an upstream that is broken itself',
    'upstreams: { app: »5 }\nroutes: [{ prefix: /, upstream: app }]',
    'upstreams.app: must be a map (5)',
  ],
  [
    'a route while all upstreams are broken',
    'upstreams: »5\nroutes: [{ prefix: /, upstream: app }]',
    'upstreams: must be a map (5)',
  ],
  [
    'scopes outside the catalogue, next to built-in ones',
    `scopes: { a: A }\n${routes('{ prefix: /, upstream: app, scopes: [a, »b, audit:read, »audit:write] }')}`,
    'routes[0].scopes[1]: must be a scope in the catalogue (b)',
    'routes[0].scopes[3]: must be a scope in the catalogue (audit:write)',
  ],
  [
    'scopes outside the catalogue in a map',
    routes('{ prefix: /, upstream: app, scopes: { read: [users:read], PUT: [»users:put] } }'),
    'routes[0].scopes.PUT[0]: must be a scope in the catalogue (users:put)',
  ],
  [
    'scopes while the catalogue is broken',
    `scopes: »[a]\n${routes('{ prefix: /, upstream: app, scopes: [a] }')}`,
    'scopes: must be a map',
  ],
  [
    'an invalid scope token is reported once',
    routes('{ prefix: /, upstream: app, scopes: [»"a b"] }'),
    'routes[0].scopes[0]: must be a scope token (RFC 6749): visible ASCII without " and \\ (a b)',
  ],
  [
    'a method that is misspelt, or not spelt as HTTP does',
    routes('{ prefix: /, upstream: app, scopes: { write: [], »PSOT: 5, »get: [], »TRACE: [] } }'),
    'routes[0].scopes.PSOT: unknown key: did you mean "POST"?',
    'routes[0].scopes.get: unknown key: did you mean "GET"?',
    'routes[0].scopes.TRACE: unknown key',
  ],
  [
    'a map without any method',
    routes('{ prefix: /, upstream: app, scopes: »{} }'),
    'routes[0].scopes: must not be empty: every method would be 405',
  ],
  [
    'grants outside the catalogue, and one that gives nothing',
    'identity_providers:\n  idp:\n    { issuer: https://i.example, client_id: a, redirect_uri: https://a.example/, grants: [{ claim: g, value: 1, scopes: [»x] }, »{ claim: g, value: x, scopes: [] }] }',
    'identity_providers.idp.grants[0].scopes[0]: must be a scope in the catalogue (x)',
    'identity_providers.idp.grants[1]: must have scope_sets or scopes',
  ],
];

const routesByThemselves: Row[] = [
  [
    'a public route with scopes',
    routes('{ prefix: /, upstream: app, public: true, »scopes: [] }'),
    "routes[0].scopes: can't be combined with public: true",
  ],
  [
    'a public route with accept, also when that is broken',
    routes('{ prefix: /, upstream: app, public: true, »accept: »none }'),
    "routes[0].accept: can't be combined with public: true",
    'routes[0].accept: must be session, api_key or a list of them (none)',
  ],
  [
    'a route that accepts nothing',
    routes('{ prefix: /, upstream: app, accept: »[] }'),
    'routes[0].accept: must not be empty',
  ],
  [
    'a route that accepts something else',
    routes('{ prefix: /, upstream: app, accept: [session, »basic] }'),
    'routes[0].accept[1]: must be one of session, api_key (basic)',
  ],
  [
    'a route with both kinds of path',
    routes('{ prefix: /a, »exact: /a, upstream: app }'),
    "routes[0].exact: can't be combined with prefix",
  ],
  [
    'a route without path',
    routes('{ prefix: /a, upstream: app }', '»{ upstream: app }'),
    'routes[1]: must have prefix or exact',
  ],
  [
    'the same prefix twice, once with a trailing slash',
    routes(
      '{ prefix: /a, upstream: app }',
      '{ exact: /a, upstream: app }',
      '{ prefix: »/a/, upstream: app }',
    ),
    'routes[2].prefix: duplicates routes[0].prefix (/a/)',
  ],
  [
    'the same exact path twice',
    routes('{ exact: /a, upstream: app }', '{ exact: »/a, upstream: app }'),
    'routes[1].exact: duplicates routes[0].exact (/a)',
  ],
  [
    'preflights that both Postern and an upstream would handle',
    `cors: { origins: [https://a.example] }\n${routes('{ prefix: /, upstream: app, »preflight: upstream }')}`,
    "routes[0].preflight: can't be combined with cors.origins",
  ],
  [
    'CORS that is the upstream’s own, twice and misspelt',
    routes(
      '{ prefix: /, upstream: app, cors: upstream, »preflight: upstream }',
      '{ prefix: /a, upstream: app, cors: »own }',
    ),
    "routes[0].preflight: can't be combined with cors: upstream, which includes it",
    'routes[1].cors: must be upstream (own)',
  ],
  [
    'CORS that is the upstream’s own, beside origins',
    `cors: { origins: [https://a.example] }\n${routes('{ prefix: /, upstream: app, cors: upstream }')}`,
  ],
  [
    'preflights that an upstream handles, without origins',
    `cors: { origins: [] }\n${routes('{ prefix: /, upstream: app, preflight: upstream }')}`,
  ],
  [
    'preflights handled by neither',
    routes('{ prefix: /, upstream: app, preflight: »own }'),
    'routes[0].preflight: must be upstream (own)',
  ],
  [
    'a challenge for keys by Basic, which are not accepted',
    `api_keys: { basic: false }\n${routes('{ prefix: /a, upstream: app, challenge: bearer }', '{ prefix: /b, upstream: app, challenge: »both }')}`,
    'routes[1].challenge: requires api_keys.basic: true (both)',
  ],
  [
    'another one, by default',
    routes('{ prefix: /, upstream: app, challenge: »basic }'),
    'routes[0].challenge: requires api_keys.basic: true (basic)',
  ],
  [
    'a challenge for keys by Basic, which are accepted',
    `api_keys: { basic: true }\n${routes('{ prefix: /, upstream: app, challenge: basic }')}`,
  ],
  [
    'a challenge of another scheme',
    routes('{ prefix: /, upstream: app, challenge: »digest }'),
    'routes[0].challenge: must be one of bearer, basic, both (digest)',
  ],
  [
    'an Authorization that is neither ours nor the application’s',
    routes('{ prefix: /, upstream: app, authorization: »drop }'),
    'routes[0].authorization: must be pass (drop)',
  ],
  ['an Authorization of the application', routes('{ prefix: /, upstream: app, authorization: pass }')],
  [
    'a credential of the application beside one that is fixed for its upstream alone',
    `upstreams: { app: { url: http://127.0.0.1:9, headers: { X-API-Key: geheim } }, other: { url: http://127.0.0.1:8 } }
routes: [{ prefix: /a, upstream: app, authorization: »pass }, { prefix: /b, upstream: other, authorization: pass }, { prefix: /c, upstream: app }]`,
    "routes[0].authorization: can't be combined with X-API-Key in upstreams.app.headers (pass)",
  ],
  [
    'a kind of caller that has no credential of its own yet',
    routes('{ prefix: /, upstream: app, authorization: pass, accept: [session, »client, »token] }'),
    ...['client', 'token'].map(
      (kind, index) => `routes[0].accept[${index + 1}]: must be one of session, api_key (${kind})`,
    ),
  ],
  [
    'https alone for an address that is http',
    `${http}listen: { hsts: »true }`,
    'listen.hsts: requires an https base_url (true)',
  ],
  ['https alone for an address that is https', `${https}listen: { hsts: true }`],
  ['no route at all', 'routes: »[]', 'routes: must have at least one route'],
  [
    'identity headers that Postern checks, sets or frames with',
    `upstreams:
  app:
    url: builtin:echo
    identity_headers:
      Remote-User: username
      X-WEBAUTH-EMAIL: email
      X-Forwarded-User: subject
${[
  ...['Host', 'content-length', 'Transfer-Encoding', 'Connection', 'Authorization', 'X-API-Key', 'Cookie'],
  ...['X-Auth-Client-Id', 'X-Auth-Issuer', 'X-Auth-Delegated', 'X-Auth-Assurance'],
  ...['X-Auth-User', 'X-Request-Id', 'X-Forwarded-For', 'X-Forwarded-Prefix', 'X-Real-IP', 'Forwarded', 'TE'],
  ...[
    'Script-Name',
    'X-Original-URL',
    'X-HTTP-Method-Override',
    'traceparent',
    'Postern-Via',
    'Origin',
    'Content-Type',
  ],
]
  .map((name) => `      »${name}: username\n`)
  .join('')}routes: [{ prefix: /, upstream: app }]`,
    ...[
      ...[
        'Host',
        'content-length',
        'Transfer-Encoding',
        'Connection',
        'Authorization',
        'X-API-Key',
        'Cookie',
      ],
      ...['X-Auth-Client-Id', 'X-Auth-Issuer', 'X-Auth-Delegated', 'X-Auth-Assurance'],
      ...['X-Auth-User', 'X-Request-Id', 'X-Forwarded-For', 'X-Forwarded-Prefix', 'X-Real-IP', 'Forwarded'],
      ...[
        'TE',
        'Script-Name',
        'X-Original-URL',
        'X-HTTP-Method-Override',
        'traceparent',
        'Postern-Via',
        'Origin',
      ],
      'Content-Type',
    ].map((name) => `upstreams.app.identity_headers.${name}: is a name that Postern checks, sets or drops`),
  ],
  [
    'identity headers with odd names, duplicate names and unknown values',
    `upstreams:
  app:
    url: builtin:echo
    identity_headers: { »Remote_User: username, X-A: email, »x-a: email, X-B: »name }
routes: [{ prefix: /, upstream: app }]`,
    'upstreams.app.identity_headers.Remote_User: must be the name of a header, of letters, digits and -',
    'upstreams.app.identity_headers.x-a: is a duplicate in another spelling',
    'upstreams.app.identity_headers.X-B: must be one of subject, username, display_name, email, method, scopes, scopes_csv, credential_id, tenant, scope_sets, service_scopes, or claim:NAME, or a map with from (name)',
  ],
  [
    'identity headers by the first name that is held, with numbers for names',
    `upstreams:
  app:
    url: builtin:echo
    identity_headers:
      X-A: { from: scope_sets, first: [{ administrator: Admin }, { 74: "74" }, { "75": "" }], else: "" }
      X-B: { from: service_scopes, first: [{ a: b }], encoding: utf8 }
      X-C: { from: username, encoding: utf8 }
routes: [{ prefix: /, upstream: app }]`,
  ],
  [
    'identity headers made of what they can’t be made of',
    `upstreams:
  app:
    url: builtin:echo
    identity_headers:
      X-A: { from: »name }
      X-B: { from: scope_sets, first: »[] }
      X-C: { from: scope_sets, first: [»{ a: b, c: d }, »{}, { »"": a }, { a: »5 }, { a: »"b\\n" }] }
      X-D: { from: username, »first: [{ ada: Admin }] }
      X-E: { from: scope_sets, »else: a }
      X-F: { from: email, encoding: »latin1 }
      »X-G: { encoding: utf8 }
      X-H: { from: email, »encodng: utf8 }
routes: [{ prefix: /, upstream: app }]`,
    'upstreams.app.identity_headers.X-A.from: must be one of subject, username, display_name, email, method, scopes, scopes_csv, credential_id, tenant, scope_sets, service_scopes, or claim:NAME (name)',
    'upstreams.app.identity_headers.X-B.first: must not be empty',
    ...[0, 1].map(
      (index) =>
        `upstreams.app.identity_headers.X-C.first[${index}]: must have one name with its value: the list decides which name comes first`,
    ),
    'upstreams.app.identity_headers.X-C.first[2].: must not be empty',
    'upstreams.app.identity_headers.X-C.first[3].a: must be a string: put it in quotes (5)',
    'upstreams.app.identity_headers.X-C.first[4].a: must not contain control characters (b\\u{a})',
    'upstreams.app.identity_headers.X-D.first: requires from: scope_sets, service_scopes or claim:NAME',
    'upstreams.app.identity_headers.X-E.else: requires first',
    'upstreams.app.identity_headers.X-F.encoding: must be one of percent, utf8 (latin1)',
    'upstreams.app.identity_headers.X-G.from: is required',
    'upstreams.app.identity_headers.X-H.encodng: unknown key: did you mean "encoding"?',
  ],
  [
    'identity headers made of claims, some of which nobody keeps',
    `identity_providers:
  a: { issuer: https://a.example, client_id: a, redirect_uri: https://a.example/, keep: { groups: groups, dept: /org/a~1b } }
  b: { issuer: https://b.example, client_id: a, redirect_uri: https://a.example/, keep: { n_1: "https://b.example/roles" } }
upstreams:
  app:
    url: builtin:echo
    identity_headers:
      X-A: claim:groups
      X-B: { from: claim:n_1, first: [{ "74": Admin }], else: Viewer, encoding: utf8 }
      X-C: »claim:n_2
      X-D: { from: »claim:org }
      X-E: »claim:Dept
      X-F: { from: »"claim:" }
routes: [{ prefix: /, upstream: app }]`,
    'upstreams.app.identity_headers.X-C: is kept by no provider: add n_2 to identity_providers.NAME.keep (claim:n_2)',
    'upstreams.app.identity_headers.X-D.from: is kept by no provider: add org to identity_providers.NAME.keep (claim:org)',
    'upstreams.app.identity_headers.X-E: must be one of subject, username, display_name, email, method, scopes, scopes_csv, credential_id, tenant, scope_sets, service_scopes, or claim:NAME, or a map with from (claim:Dept)',
    'upstreams.app.identity_headers.X-F.from: must be one of subject, username, display_name, email, method, scopes, scopes_csv, credential_id, tenant, scope_sets, service_scopes, or claim:NAME (claim:)',
  ],
  [
    'claims kept where none can be',
    `identity_providers:
  a:
    issuer: https://a.example
    client_id: a
    redirect_uri: https://a.example/
    keep: { a: »/~, b: »/a~2b, c: »"", d: »5, »E-f: e, f: /, g: "/~0~1", h: a~b, i: /a//b }
  b:
    issuer: https://b.example
    client_id: a
    redirect_uri: https://a.example/
    »keep: { ${Array.from({ length: 17 }, (_, index) => `k${index}: a`).join(', ')} }`,
    ...['a', 'b'].map(
      (name) =>
        `identity_providers.a.keep.${name}: must be the name of a claim or, beginning with /, a JSON Pointer, in which ~0 stands for ~ and ~1 for / (${name === 'a' ? '/~' : '/a~2b'})`,
    ),
    'identity_providers.a.keep.c: must not be empty ("")',
    'identity_providers.a.keep.d: must be a string: put it in quotes (5)',
    'identity_providers.a.keep.E-f: must be a name of 1 to 32 of a-z, 0-9 and _',
    'identity_providers.b.keep: must have at most 16 entries',
  ],
  [
    'fixed headers that Postern checks, sets or frames with, or that say who is calling',
    `upstreams:
  app:
    url: http://127.0.0.1:9000
    identity_headers: { Remote-User: username }
    headers: { X-Secret: a, Authorization: b, x-api-key: c, »Cookie: d, »X-Auth-Token: e, »remote-user: f, »x-secret: g }
routes: [{ prefix: /, upstream: app }]`,
    'upstreams.app.headers.Cookie: is a name that Postern checks, sets or drops',
    'upstreams.app.headers.X-Auth-Token: is a name that Postern checks, sets or drops',
    'upstreams.app.headers.remote-user: is in identity_headers, too',
    'upstreams.app.headers.x-secret: is a duplicate in another spelling',
  ],
  [
    'fixed headers with odd names and values, none of which is shown',
    `upstreams:
  app:
    url: http://127.0.0.1:9000
    headers: { »X_Secret: geheim, X-A: »"geheim ", X-B: »"geheim\\n", X-C: »5, X-D: »{ env: NONE }, X-E: »"", X-F: ü }
routes: [{ prefix: /, upstream: app }]`,
    'upstreams.app.headers.X_Secret: must be the name of a header, of letters, digits and -',
    ...['X-A', 'X-B'].map(
      (name) =>
        `upstreams.app.headers.${name}: must not contain control characters, nor begin or end with a space`,
    ),
    'upstreams.app.headers.X-C: must be a string: put it in quotes',
    'upstreams.app.headers.X-D: environment variable NONE is not set',
    'upstreams.app.headers.X-E: must not be empty',
  ],
  [
    'more than sixteen fixed headers',
    `upstreams: { app: { url: http://127.0.0.1:9000, »headers: { ${Array.from({ length: 17 }, (_, i) => `X-${i}: a`).join(', ')} } } }`,
    'upstreams.app.headers: must have at most 16 entries',
  ],
  [
    'fixed headers for the echo, which would show them',
    'upstreams: { app: { url: builtin:echo, »headers: { X-A: geheim } } }',
    "upstreams.app.headers: can't be combined with builtin:echo, which shows them",
  ],
  [
    'headers that can’t be dropped',
    'headers: { drop: [X-Custom, »Host, »content_length, »"a b", X_Y] }',
    "headers.drop[1]: is set on every request and can't be dropped (Host)",
    "headers.drop[2]: is set on every request and can't be dropped (content_length)",
    'headers.drop[3]: must be the name of a header (a b)',
  ],
  [
    'headers that can’t pass beside Postern’s',
    'headers: { pass: [X-Auth-Token, x-auth-user, »X-Auth-Subject, »x-auth-scopes, »X-Auth-Assertion, »X-Auth-Issuer, »X-Auth-Key-Ends, »X-Auth-Code, »X-Auth-Location, »X_Auth_Token, »X-Token, »X-Auth-] }',
    ...[
      'X-Auth-Subject',
      'x-auth-scopes',
      'X-Auth-Assertion',
      'X-Auth-Issuer',
      'X-Auth-Key-Ends',
      'X-Auth-Code',
    ]
      .concat('X-Auth-Location')
      .map((name, index) => `headers.pass[${index + 2}]: is a name of Postern's own (${name})`),
    ...['X_Auth_Token', 'X-Token', 'X-Auth-'].map(
      (name, index) =>
        `headers.pass[${index + 9}]: must be a name that begins with X-Auth-, of letters, digits and - (${name})`,
    ),
  ],
  [
    'an upgrade past the gateway',
    routes('{ prefix: /, upstream: app, upgrades: [mqtt, »h2c, »H2C, »TLS/1.2, »HTTP/2.0] }'),
    ...['h2c', 'H2C', 'TLS/1.2', 'HTTP/2.0'].map(
      (value, index) =>
        `routes[0].upgrades[${index + 1}]: must be the name of a protocol other than HTTP, h2c and TLS (${value})`,
    ),
  ],
  [
    'two broken routes and an unknown key elsewhere, all at once',
    `»nope: 1\n${routes('{ prefix: »a, upstream: »b }', '{ exact: »/a//b, upstream: »c }')}`,
    'nope: unknown key',
    'routes[0].prefix: must begin with / (a)',
    'routes[0].upstream: must be the name of an upstream: app (b)',
    'routes[1].exact: must not contain // (/a//b)',
    'routes[1].upstream: must be the name of an upstream: app (c)',
  ],
];

const ambiguousPaths: Row[] = (
  [
    ['without its slash', 'api', 'must begin with /'],
    ['with a query', '/a?b', 'must not have a query or fragment'],
    ['with a fragment', '/a#b', 'must not have a query or fragment'],
    ['with a space', '/a b', 'must be visible ASCII: percent-encode other characters as UTF-8'],
    ['with an umlaut', '/ä', 'must be visible ASCII: percent-encode other characters as UTF-8'],
    ['with an empty segment', '/a//b', 'must not contain //'],
    ['that ends in an empty segment', '/a//', 'must not contain //'],
    ['of two slashes', '//', 'must not contain //'],
    [
      'with a wildcard',
      '/a/*',
      'must be a plain path, without wildcards and templates: a prefix covers all paths below it',
    ],
    [
      'with a template',
      '/a/{id}',
      'must be a plain path, without wildcards and templates: a prefix covers all paths below it',
    ],
    ['with a backslash', '/a\\\\b', 'must not contain \\'],
    ['with a dot segment', '/a/../b', 'must not contain . or .. segments'],
    ['that ends in a dot segment', '/a/.', 'must not contain . or .. segments'],
    ['with a semicolon', '/a;b', 'must not contain ; while paths.semicolons is refuse'],
    ['with a half escape', '/a%2', 'must not contain a malformed escape'],
    ['with an escaped letter', '/%61', 'must not percent-encode a'],
    ['with an escaped slash', '/a%2fb', 'must not contain %2f'],
    ['with an escaped backslash', '/a%5Cb', 'must not contain %5C'],
    ['with an escaped NUL', '/a%00', 'must not contain %00'],
    ['that is escaped twice', '/a%2520', 'must be percent-encoded once'],
    ['with escapes that aren’t UTF-8', '/a%ff', 'must be percent-encoded UTF-8'],
  ] as const
).map(([sentence, path, rule]) => [
  `a route’s path ${sentence}`,
  routes(`{ prefix: »"${path}", upstream: app }`),
  `routes[0].prefix: ${rule} (${path.replace('\\\\', '\\')})`,
]);

const own = (area: string) => `is in ${area}, which Postern serves itself`;

const ownPaths: Row[] = [
  [
    'routes that no request reaches, because Postern serves them',
    routes(
      '{ prefix: »/api/login, upstream: app }',
      '{ exact: »/api/logout/, upstream: app }',
      '{ prefix: »/api/admin/api-keys/x, upstream: app }',
      '{ prefix: »/api/self/sessions, upstream: app }',
      '{ exact: »/.well-known/jwks.json, upstream: app }',
      '{ prefix: /api/admin/users, upstream: app }',
      '{ prefix: /api/loginx, upstream: app }',
      '{ prefix: /api, upstream: app }',
    ),
    `routes[0].prefix: ${own('/api/login')} (/api/login)`,
    `routes[1].exact: ${own('/api/logout')} (/api/logout/)`,
    `routes[2].prefix: ${own('/api/admin/api-keys')} (/api/admin/api-keys/x)`,
    `routes[3].prefix: ${own('/api/self/sessions')} (/api/self/sessions)`,
    `routes[4].exact: ${own('/.well-known/jwks.json')} (/.well-known/jwks.json)`,
  ],
  [
    'routes in an area of the upstream, and in one that isn’t',
    `endpoints: { self_sessions: upstream, users: own }\n${routes(
      '{ prefix: /api/self/sessions, upstream: app }',
      '{ prefix: »/api/admin/users, upstream: app }',
    )}`,
    `routes[1].prefix: ${own('/api/admin/users')} (/api/admin/users)`,
  ],
  [
    'a route below /api/self, which is Postern’s, and an endpoint there that isn’t',
    `endpoints: { self: own, self_password: »upstream, users: own }\n${routes('{ prefix: »/api/self/settings, upstream: app }')}`,
    'endpoints.self_password: must not be upstream while endpoints.self is own: it is in /api/self (upstream)',
    `routes[0].prefix: ${own('/api/self')} (/api/self/settings)`,
  ],
  [
    'a route in an area that is off',
    `endpoints: { audit: off }\n${routes('{ prefix: »/api/admin/audit, upstream: app }')}`,
    `routes[0].prefix: ${own('/api/admin/audit')} (/api/admin/audit)`,
  ],
  [
    'routes that servers read as one of Postern’s paths',
    `paths: { semicolons: pass, encoded_slashes: pass }\n${routes(
      '{ prefix: »/API/Login, upstream: app }',
      '{ prefix: »"/api/login;v", upstream: app }',
      '{ prefix: »/api%2flogout, upstream: app }',
    )}`,
    `routes[0].prefix: ${own('/api/login')} (/API/Login)`,
    `routes[1].prefix: ${own('/api/login')} (/api/login;v)`,
    `routes[2].prefix: ${own('/api/logout')} (/api%2flogout)`,
  ],
  [
    'routes whose paths pass what others refuse, and the other way round',
    `paths: { semicolons: pass, encoded_percent: pass }\n${routes(
      '{ prefix: »"/a;b", upstream: app, paths: { semicolons: refuse } }',
      '{ prefix: "/c;b", upstream: app, paths: { encoded_percent: refuse } }',
      '{ prefix: »"/d%2520", upstream: app, paths: { encoded_percent: refuse } }',
      '{ prefix: »"/e%23", upstream: app, paths: { encoded_slashes: pass } }',
      '{ prefix: "/f%23", upstream: app, paths: { encoded_delimiters: »yes } }',
    )}`,
    'routes[0].prefix: must not contain ; while paths.semicolons is refuse (/a;b)',
    'routes[2].prefix: must be percent-encoded once (/d%2520)',
    'routes[3].prefix: must not contain %23 (/e%23)',
    'routes[4].paths.encoded_delimiters: must be one of refuse, pass (yes)',
  ],
  [
    'routes that no server may read',
    `paths: { encoded_percent: pass, encoded_delimiters: pass }\n${routes(
      '{ prefix: »"/a/..%23", upstream: app }',
      '{ prefix: »"/a%2500", upstream: app }',
      '{ prefix: »"/%2525252520", upstream: app }',
    )}`,
    ...['/a/..%23', '/a%2500', '/%2525252520'].map(
      (path, index) =>
        `routes[${index}].prefix: must not be read by any server with . or .. segments, control characters or escapes of more than four rounds (${path})`,
    ),
  ],
  [
    'a route in an area whose owner is unknown',
    `endpoints: { audit: »me }\n${routes('{ prefix: /api/admin/audit, upstream: app }')}`,
    'endpoints.audit: must be one of own, upstream, off (me)',
  ],
];

const goodPaths: Row[] = [
  [
    'a semicolon and an escaped slash where they pass',
    `paths: { semicolons: pass, encoded_slashes: pass }\n${routes('{ prefix: "/a;b%2Fc%3bd", upstream: app }')}`,
  ],
  [
    'other spellings where their routes pass them',
    `paths: { encoded_percent: pass }\n${routes(
      '{ prefix: "/a%23b%3Fc", upstream: app, paths: { encoded_delimiters: pass } }',
      '{ prefix: "/a%252fb", upstream: app, paths: {} }',
      '{ exact: "/a%5cb%3b", upstream: app, paths: { encoded_backslashes: pass, semicolons: pass } }',
    )}`,
  ],
  [
    'routes whose escapes differ in case alone',
    routes('{ prefix: "/a%3Ab", upstream: app }', '{ prefix: "/A%3Ab", upstream: app }'),
  ],
  [
    'escaped UTF-8, a trailing slash and all kinds of punctuation',
    routes('{ prefix: "/%C3%A4/a:b@c,$&+=!~/", upstream: app }'),
  ],
];

const cookies: Row[] = [
  [
    'SameSite=None without Secure by http',
    `${http}sessions: { cookie: { same_site: »none } }`,
    'sessions.cookie.same_site: requires a Secure cookie: an https base_url or secure: true (none)',
  ],
  [
    'SameSite=None without Secure by choice',
    `${https}sessions: { cookie: { same_site: »none, secure: false } }`,
    'sessions.cookie.same_site: requires a Secure cookie: an https base_url or secure: true (none)',
  ],
  ['SameSite=None with Secure by choice', `${http}sessions: { cookie: { same_site: none, secure: true } }`],
  [
    'SameSite=None while base_url is broken',
    'tenant: a\nbase_url: »x\nsessions: { cookie: { same_site: none } }',
    'base_url: must be an http:// or https:// URL (x)',
  ],
  [
    'SameSite=None while secure is broken',
    `${http}sessions: { cookie: { same_site: none, secure: »1 } }`,
    'sessions.cookie.secure: must be auto, true or false (1)',
  ],
  [
    '__Secure- without Secure',
    `${http}sessions: { cookie: { name: »__secure-x } }`,
    'sessions.cookie.name: requires a Secure cookie: an https base_url or secure: true (__secure-x)',
  ],
  [
    '__Host- with the default path',
    `${https}sessions: { cookie: { name: »__Host-x } }`,
    'sessions.cookie.name: requires path: / (__Host-x)',
  ],
  [
    '__Host- with a domain',
    `${https}sessions: { cookie: { name: __Host-x, path: /, domain: »b.example } }`,
    "sessions.cookie.domain: can't be combined with a __Host- name (b.example)",
  ],
  ['__Host- as browsers want it', `${https}sessions: { cookie: { name: __Host-x, path: / } }`],
  [
    'the domain of another host',
    `${https}sessions: { cookie: { domain: »c.example } }`,
    'sessions.cookie.domain: must be the host of base_url or a domain above it (c.example)',
  ],
  [
    'a domain that only ends alike',
    `${https}sessions: { cookie: { domain: ».example } }`,
    'sessions.cookie.domain: must be a domain name without a leading dot (.example)',
  ],
  ['a domain above the host', `${https}sessions: { cookie: { domain: B.example } }`],
];

const stores: Row[] = [
  [
    'TLS for files',
    'stores: { »records_tls: { ca: a }, »sessions_tls: { ca: a } }',
    'stores.records_tls: requires a postgres:// records store',
    'stores.sessions_tls: requires a rediss://, redis+sentinel:// or redis+cluster:// session store',
  ],
  [
    'a password, connections and a timeout for a file',
    'stores: { »records_password: a, »records_connections: 1, »records_statement_timeout: 1s }',
    'stores.records_password: requires a postgres:// records store',
    'stores.records_connections: requires a postgres:// records store',
    'stores.records_statement_timeout: requires a postgres:// records store',
  ],
  [
    'a user and passwords for files',
    'stores: { »sessions_username: a, »sessions_password: b, »sessions_sentinel_password: c }',
    'stores.sessions_username: requires a session store in Redis',
    'stores.sessions_password: requires a session store in Redis',
    'stores.sessions_sentinel_password: requires a redis+sentinel:// session store',
  ],
  [
    'a password that is not percent-encoded',
    'stores: { sessions: »"redis://a:100%@host" }',
    'stores.sessions: must have a percent-encoded user and password',
  ],
  [
    'a password for Sentinels where there are none',
    'stores: { sessions: "redis://a", sessions_password: b, »sessions_sentinel_password: c }',
    'stores.sessions_sentinel_password: requires a redis+sentinel:// session store',
  ],
  [
    'TLS for plain redis',
    'stores: { sessions: "redis://a", »sessions_tls: {} }',
    'stores.sessions_tls: requires a rediss://, redis+sentinel:// or redis+cluster:// session store',
  ],
  [
    'TLS for a store with a broken address',
    'stores: { sessions: »redis, sessions_tls: {} }',
    'stores.sessions: must be sqlite:PATH, redis://HOST, rediss://HOST, redis+sentinel://HOST,HOST/NAME, redis+cluster://HOST,HOST or redis+unix:PATH',
  ],
  [
    'TLS and a password for a store with an unknown address',
    'stores: { records: »{ env: MISSING }, records_tls: {}, records_password: a }',
    'stores.records: environment variable MISSING is not set',
  ],
  [
    'a client certificate without its key',
    'stores: { sessions: "rediss://a", sessions_tls: { cert: »a } }',
    'stores.sessions_tls.cert: requires key (a)',
  ],
  [
    'a key without its client certificate, for an upstream without TLS',
    'upstreams: { app: { url: unix:a, »tls: { key: »a } } }',
    'upstreams.app.tls: requires an https:// url',
    'upstreams.app.tls.key: requires cert (a)',
  ],
  [
    'too little memory for the lanes',
    'passwords: { memory: »31KiB, parallelism: 4 }',
    'passwords.memory: memory must be at least 8KiB per lane (parallelism) (31KiB)',
  ],
  [
    'a key that is published for longer than the one before it signs',
    'signing_keys: { rotate_every: 1h, publish_ahead: »61m }',
    'signing_keys.publish_ahead: must be at most signing_keys.rotate_every, 1h (61m)',
  ],
  ['a key that is published as soon as the one before it signs', 'signing_keys: { rotate_every: 10m }'],
  ['any publication without rotation', 'signing_keys: { rotate_every: never, publish_ahead: 90d }'],
  [
    'stale_if_error below sessions_liveness_age',
    'sessions: { stale_if_error: »4999ms }',
    'sessions.stale_if_error: must be at least stores.sessions_liveness_age, 5s (4999ms)',
  ],
  [
    'sessions_liveness_age above stale_if_error',
    'stores: { sessions_liveness_age: »31s }',
    'stores.sessions_liveness_age: must be at most sessions.stale_if_error, 30s (31s)',
  ],
  [
    'stale_if_error equal to sessions_liveness_age',
    'sessions: { stale_if_error: 1m }\nstores: { sessions_liveness_age: 60s }',
  ],
  ['enough memory for the lanes', 'passwords: { memory: 32KiB, parallelism: 4 }'],
  [
    'both listeners on one port',
    'listen: { port: 9090 }\nmanagement: { port: »9090 }',
    'management.port: is the port of the other listener (9090)',
  ],
  [
    'both listeners on one port, one by default',
    'listen: { port: »9090 }',
    'listen.port: is the port of the other listener (9090)',
  ],
  [
    'both listeners on one port while one address is unknown',
    'listen: { port: 9090, host: »{ env: MISSING } }',
    'listen.host: environment variable MISSING is not set',
  ],
  [
    'a listener for decisions on the port of another one',
    'listen: { port: 9000 }\nforward_auth: [{ mode: nginx, port: 8081 }, { mode: envoy, port: »8081 }, { mode: caddy, port: »9000 }]',
    'forward_auth[1].port: is the port of the other listener (8081)',
    'forward_auth[2].port: is the port of the other listener (9000)',
  ],
  [
    'listeners for decisions on one port of different addresses',
    'forward_auth: [{ mode: nginx }, { mode: envoy, host: 127.0.0.2 }]',
  ],
  [
    'a listener for decisions that is wrong in every way',
    'forward_auth:\n  - { mode: »apache, proxies: »[], client_headers: »drop }\n  - »{ port: 1 }\n  - { mode: nginx, port: 0, proxies: [»here] }',
    'forward_auth[0].mode: must be one of nginx, ingress_nginx, haproxy, traefik, caddy, envoy, envoy_grpc (apache)',
    'forward_auth[0].proxies: must not be empty: no proxy could ask',
    'forward_auth[0].client_headers: must be one of refuse, pass (drop)',
    'forward_auth[1].mode: is required',
    'forward_auth[2].proxies[0]: must be an IP address or a CIDR block (here)',
  ],
  [
    'what proves answers to services, without its audience or its secret',
    'forward_auth:\n  - { mode: nginx, »assertion: {} }\n  - { mode: caddy, port: 0, »assertion: { audience: a, algorithm: HS256 } }',
    'forward_auth[0].assertion.audience: is required',
    'forward_auth[1].assertion.secret: is required for HS256',
  ],
  [
    'what a route without an upstream can’t have, and an upstream of that name',
    'forward_auth: [{ mode: nginx }]\nroutes: [{ prefix: /, upstream: none, »max_body: 1KiB, »idle_timeout: 1s }]\nupstreams: { »none: { url: builtin:echo } }',
    "routes[0].max_body: can't be combined with upstream: none",
    "routes[0].idle_timeout: can't be combined with upstream: none",
    'upstreams.none: is the word for no upstream: choose another name',
  ],
  ['both listeners on any free port', 'listen: { port: 0 }\nmanagement: { port: 0 }'],
  ['one port of two addresses', 'listen: { host: 10.0.0.1, port: 9090 }'],
];

testRows([
  ...upstreamsAndScopes,
  ...routesByThemselves,
  ...ambiguousPaths,
  ...ownPaths,
  ...goodPaths,
  ...cookies,
  ...stores,
]);
