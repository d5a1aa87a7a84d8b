import { type Row, testRows } from './config-rows.ts';

const keys: Row[] = [
  ['an unknown section', '»tls: {}', 'tls: unknown key'],
  [
    'an unknown key, whose value is not shown',
    'bootstrap: { »tokn: geheim }',
    'bootstrap.tokn: unknown key: did you mean "token"?',
  ],
  [
    'an unknown key in a list',
    'routes:\n  - prefix: /\n    upstream: app\n    »methods: [GET]\nupstreams: { app: { url: builtin:echo } }',
    'routes[0].methods: unknown key',
  ],
  [
    'every unknown key at once',
    '»a: 1\n»b: 2\nlimits: { »c: 3 }',
    'a: unknown key',
    'b: unknown key',
    'limits.c: unknown key',
  ],
  [
    'a key of every object is unknown',
    'upstreams: { app: { url: builtin:echo, »constructor: x } }',
    'upstreams.app.constructor: unknown key',
  ],
  [
    'a required key is missing, said at its parent',
    'upstreams:\n  »app: { max_waiting: 1 }',
    'upstreams.app.url: is required',
  ],
  [
    'a required key of a list’s item is missing',
    'routes:\n  - »{ prefix: / }',
    'routes[0].upstream: is required',
  ],
  [
    'a provider lacks all that is required',
    'identity_providers:\n  »idp: {}',
    'identity_providers.idp.issuer: is required',
    'identity_providers.idp.client_id: is required',
    'identity_providers.idp.redirect_uri: is required',
  ],
  [
    'a certificate without its key, and not there either',
    'listen: { »tls: { cert: »a.crt } }',
    'listen.tls.key: is required',
    "listen.tls.cert: can't be read: no such file (ENOENT) (a.crt)",
  ],
  ['a section left blank', 'listen:»\n', 'listen: must be a map'],
  [
    'a list left blank, which could be taken for nothing needed',
    'routes: [{ prefix: /, upstream: app, scopes: »}]\nupstreams: { app: { url: builtin:echo } }',
    'routes[0].scopes: must be a list of scopes, or a map of read, write and methods to such lists',
  ],
  ['a scalar in place of a map', 'listen: »8080', 'listen: must be a map (8080)'],
  ['a scalar in place of a list', 'trusted_proxies: »10.0.0.1', 'trusted_proxies: must be a list (10.0.0.1)'],
  [
    'a list in place of a scalar',
    'tokens: { access_lifetime: »[10m] }',
    'tokens.access_lifetime: must be a duration such as 500ms, 10s, 15m, 12h or 30d',
  ],
  [
    'a map in place of a scalar',
    'bootstrap: { token: »{ value: geheim } }',
    'bootstrap.token: must be a string',
  ],
  [
    'a number in place of a text',
    'api_keys: { prefix: »2026 }',
    'api_keys.prefix: must be a string: put it in quotes (2026)',
  ],
];

const providerOf = (more: string) =>
  `identity_providers:\n  idp: { issuer: https://i.example, client_id: a, redirect_uri: https://a.example/in, ${more} }`;

const reserved =
  "is reserved: a provider can't be named access-token, refresh-token, invitation, token, revoke, register, device, passkey, client or password";

const providersAndUpstreams: Row[] = [
  [
    'a provider with the name of the method without provider',
    'identity_providers: { »password: { issuer: https://i.example, client_id: a, redirect_uri: https://a.example/ } }',
    `identity_providers.password: ${reserved}`,
  ],
  [
    'a provider with the name of an own path',
    `identity_providers: { »access-token: { issuer: https://i.example, client_id: a, redirect_uri: https://a.example/ } }`,
    `identity_providers.access-token: ${reserved}`,
  ],
  ...['refresh-token', 'invitation', 'token', 'revoke', 'register', 'device', 'passkey', 'client'].map(
    (name): Row => [
      `a provider with the name of the own path ${name}`,
      `identity_providers: { »${name}: { issuer: https://i.example, client_id: a, redirect_uri: https://a.example/ } }`,
      `identity_providers.${name}: ${reserved}`,
    ],
  ),
  [
    'a provider whose name is too long',
    `identity_providers: { »${'a'.repeat(33)}: { issuer: https://i.example, client_id: a, redirect_uri: https://a.example/ } }`,
    `identity_providers.${'a'.repeat(33)}: must be a name of 1 to 32 of a-z, 0-9 and -`,
  ],
  ...[
    'http://i.example',
    'http://127.0.0.1.example',
    'http://localhost.example/',
    'http://10.0.0.1:8080',
  ].map(
    (issuer): Row => [
      `an issuer that is reached over http: ${issuer}`,
      `identity_providers: { idp: { issuer: »'${issuer}', client_id: a, redirect_uri: https://a.example/ } }`,
      `identity_providers.idp.issuer: must be https:// unless on loopback (${issuer})`,
    ],
  ),
  [
    'unsolicited with an unknown value',
    providerOf('unsolicited: »start'),
    'identity_providers.idp.unsolicited: must be true, false or started (start)',
  ],
  [
    'a provider in capitals, and what is wrong below it',
    `identity_providers: { »»IdP: { issuer: »i.example, client_id: a } }`,
    'identity_providers.IdP: must be a name of 1 to 32 of a-z, 0-9 and -',
    'identity_providers.IdP.redirect_uri: is required',
    'identity_providers.IdP.issuer: must be an http:// or https:// URL without user, query and fragment (i.example)',
  ],
  [
    'a provider that is asked for no openid',
    providerOf('scopes: »[email]'),
    'identity_providers.idp.scopes: must include openid',
  ],
  [
    'a provider whose assertions need no signature',
    providerOf('algorithms: [RS256, »none]'),
    'identity_providers.idp.algorithms[1]: must be one of RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512, EdDSA (none)',
  ],
  [
    'a parameter that would replace the nonce',
    providerOf('parameters: { »nonce: x }'),
    'identity_providers.idp.parameters.nonce: is reserved',
  ],
  [
    'a client secret that is a number, which is not shown',
    providerOf('client_secret: »123456'),
    'identity_providers.idp.client_secret: must be a string: put it in quotes',
  ],
  [
    'an upstream whose path ends with a slash',
    'upstreams: { app: { url: »http://a:1/x// } }',
    'upstreams.app.url: must not end with a slash: http://a:1/x (http://a:1/x//)',
  ],
  ...['/a/../b', '/.', '/a//b', '/a%20b', '/a;b', '/a\\\\b', '/a?b'].map((path): Row => {
    const rule = path.includes('?')
      ? 'must be http(s)://HOST:PORT without user and query, unix:PATH or builtin:echo'
      : 'must have a path of plain segments, without escapes, ; and empty or dot segments, or none';
    const shown = path.replace('\\\\', '\\');
    return [
      `an upstream with the path ${shown}`,
      `upstreams: { app: { url: »"http://a:1${path}" } }`,
      `upstreams.app.url: ${rule} (http://a:1${shown})`,
    ];
  }),
  [
    'an upstream with a query',
    'upstreams: { app: { url: »http://a:1?x } }',
    'upstreams.app.url: must be http(s)://HOST:PORT without user and query, unix:PATH or builtin:echo (http://a:1?x)',
  ],
  [
    'an upstream with a user, which is not shown',
    'upstreams: { app: { url: »http://u:geheim@a:1 } }',
    'upstreams.app.url: must be http(s)://HOST:PORT without user and query, unix:PATH or builtin:echo',
  ],
  [
    'another builtin than the echo',
    'upstreams: { app: { url: »builtin:ech } }',
    'upstreams.app.url: must be http(s)://HOST:PORT without user and query, unix:PATH or builtin:echo (builtin:ech)',
  ],
  [
    'a name of an upstream with a space',
    'upstreams: { »a b: { url: builtin:echo } }',
    'upstreams.a b: must be a name of 1 to 63 of A-Z, a-z, 0-9, . _ -',
  ],
  [
    'an upstream without connections',
    'upstreams: { app: { url: builtin:echo, max_connections: »0 } }',
    'upstreams.app.max_connections: must be a whole number of at least 1 (0)',
  ],
  [
    'a host with a path',
    'upstreams: { app: { url: builtin:echo, host: »a/b } }',
    'upstreams.app.host: must be HOST or HOST:PORT (a/b)',
  ],
];

testRows([...keys, ...providersAndUpstreams]);
