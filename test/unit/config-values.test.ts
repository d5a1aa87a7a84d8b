import { type Row, testRows } from './config-rows.ts';

const values: Row[] = [
  [
    'a tenant with a space',
    'tenant: »"a b"\nbase_url: https://acme.example.com',
    'tenant: must be 1 to 63 of A-Z, a-z, 0-9, . _ - (a b)',
  ],
  [
    'a tenant of 64 characters',
    `tenant: »${'a'.repeat(64)}\nbase_url: https://acme.example.com`,
    `tenant: must be 1 to 63 of A-Z, a-z, 0-9, . _ - (${'a'.repeat(64)})`,
  ],
  [
    'a base_url with a path',
    'tenant: a\nbase_url: »https://a.example/api',
    'base_url: must not have a user, path, query or fragment (https://a.example/api)',
  ],
  [
    'a base_url with an empty query',
    'tenant: a\nbase_url: »https://a.example?',
    'base_url: must not have a user, path, query or fragment (https://a.example?)',
  ],
  [
    'a base_url with a fragment',
    'tenant: a\nbase_url: »https://a.example/#x',
    'base_url: must not have a user, path, query or fragment (https://a.example/#x)',
  ],
  [
    'a base_url with a user, which is not shown',
    'tenant: a\nbase_url: »https://u:geheim@a.example',
    'base_url: must not have a user, path, query or fragment',
  ],
  [
    'a base_url of another scheme',
    'tenant: a\nbase_url: »ftp://a.example',
    'base_url: must be an http:// or https:// URL (ftp://a.example)',
  ],
  [
    'a base_url not in the form browsers send',
    'tenant: a\nbase_url: »https://A.example:443',
    'base_url: must be in the form browsers send: lower case, no default port (https://A.example:443)',
  ],
  [
    'a port beyond the range',
    'listen: { port: »65536 }',
    'listen.port: must be a whole number from 0 to 65535 (65536)',
  ],
  [
    'a port that is half a number',
    'management: { port: »80.5 }',
    'management.port: must be a whole number from 0 to 65535 (80.5)',
  ],
  [
    'a port in quotes',
    'listen: { port: »"8080" }',
    'listen.port: must be a whole number from 0 to 65535, without quotes ("8080")',
  ],
  [
    'a proxy that is a name',
    'trusted_proxies: [10.0.0.0/8, »lb.example.com]',
    'trusted_proxies[1]: must be an IP address or a CIDR block (lb.example.com)',
  ],
  [
    'a proxy block with too long a prefix',
    'trusted_proxies: [»10.0.0.0/33, »::1/129, »127/8, »10.0.0.0/]',
    ...['10.0.0.0/33', '::1/129', '127/8', '10.0.0.0/'].map(
      (value, index) => `trusted_proxies[${index}]: must be an IP address or a CIDR block (${value})`,
    ),
  ],
  [
    'a publication shorter than copies of the published keys may live',
    'signing_keys: { publish_ahead: »599s }',
    'signing_keys.publish_ahead: must be at least 10m (599s)',
  ],
  [
    'a rotation that is too frequent',
    'signing_keys: { rotate_every: »9m }',
    'signing_keys.rotate_every: must be at least 10m (9m)',
  ],
  [
    'a rotation that is no duration',
    'signing_keys: { rotate_every: »monthly }',
    'signing_keys.rotate_every: must be a duration such as 12h or 30d, or never (monthly)',
  ],
  [
    'a duration without unit',
    'tokens: { access_lifetime: »600 }',
    'tokens.access_lifetime: must be a duration such as 500ms, 10s, 15m, 12h or 30d (600)',
  ],
  [
    'a duration of two parts',
    'shutdown: { timeout: »1m30s }',
    'shutdown.timeout: must be a duration such as 500ms, 10s, 15m, 12h or 30d (1m30s)',
  ],
  [
    'an access token that is never valid',
    'tokens: { access_lifetime: »0s }',
    'tokens.access_lifetime: must be at least 1s (0s)',
  ],
  [
    'a timeout of zero, which Node would take for none',
    'limits: { keep_alive_timeout: »0s }',
    'limits.keep_alive_timeout: must be at least 1ms (0s)',
  ],
  [
    'a timeout that would overflow a timer',
    'limits: { header_timeout: »25d }',
    'limits.header_timeout: must be at most 24d (25d)',
  ],
  [
    'a size of another unit',
    'limits: { own_body: »64KB }',
    'limits.own_body: must be a size such as 512, 64KiB, 10MiB or 1GiB (64KB)',
  ],
  [
    'a negative size',
    'limits: { header_bytes: »-1 }',
    'limits.header_bytes: must be a size such as 512, 64KiB, 10MiB or 1GiB (-1)',
  ],
  ['an empty size', 'limits: { target_bytes: »0 }', 'limits.target_bytes: must be at least 1 bytes (0)'],
  ['no worker', 'workers: »0', 'workers: must be auto or a whole number from 1 to 256 (0)'],
  [
    'more workers than any machine has cores',
    'workers: »257',
    'workers: must be auto or a whole number from 1 to 256 (257)',
  ],
  ['half a worker', 'workers: »1.5', 'workers: must be auto or a whole number from 1 to 256 (1.5)'],
  ['workers by a word', 'workers: »all', 'workers: must be auto or a whole number from 1 to 256 (all)'],
  ['as many workers as there are CPUs', 'workers: auto'],
  [
    'an algorithm with a shared secret',
    'tokens: { algorithm: »HS256 }',
    'tokens.algorithm: must be one of ES256, EdDSA, RS256 (HS256)',
  ],
  [
    'a cookie name with a space',
    'sessions: { cookie: { name: »"a b" } }',
    "sessions.cookie.name: must be a token (RFC 6265): letters, digits and !#$%&'*+-.^_`|~ (a b)",
  ],
  [
    'a cookie path that ends the attribute',
    'sessions: { cookie: { path: »/api;x } }',
    'sessions.cookie.path: must begin with / and be visible ASCII without ; (/api;x)',
  ],
  [
    'a word for secure',
    'sessions: { cookie: { secure: »yes } }',
    'sessions.cookie.secure: must be auto, true or false (yes)',
  ],
  [
    'a key prefix in capitals',
    'api_keys: { prefix: »PST }',
    'api_keys.prefix: must be 1 to 16 of a-z and 0-9 (PST)',
  ],
  [
    'any origin for cors',
    'cors: { origins: [»"*"] }',
    'cors.origins[0]: must be an exact origin such as https://app.example.com (*)',
  ],
  [
    'every header for cors, and what is no header',
    'cors: { expose: [X-Total, »"*", »"a b", »""] }',
    'cors.expose[1]: must be the name of a header: with credentials * exposes none (*)',
    'cors.expose[2]: must be the name of a header (a b)',
    'cors.expose[3]: must not be empty ("")',
  ],
  [
    'cors origins that no browser sends',
    'cors: { origins: [https://a.example, »https://b.example/, »null, »"https://*.a.example", »https://a.example:443] }',
    'cors.origins[1]: must be an exact origin such as https://app.example.com (https://b.example/)',
    'cors.origins[2]: must be a string',
    'cors.origins[3]: must be an exact origin such as https://app.example.com (https://*.a.example)',
    'cors.origins[4]: must be an exact origin such as https://app.example.com (https://a.example:443)',
  ],
  [
    'a bootstrap token of 19 characters, which is not shown',
    'bootstrap: { token: »geheimgeheimgeheimg }',
    'bootstrap.token: must be at least 20 characters',
  ],
  [
    'a memory that isn’t a multiple of a kibibyte',
    'passwords: { memory: »20000 }',
    'passwords.memory: must be a multiple of 1KiB (20000)',
  ],
  [
    'a records store of another kind, whose password is not shown',
    'stores: { records: »mysql://root:geheim@db/x }',
    'stores.records: must be sqlite:PATH or postgres://HOST/DATABASE, optionally with ?schema=NAME or ?sslmode=require',
  ],
  [
    'a records store in memory, which no command could reach',
    'stores: { records: »"sqlite::memory:" }',
    'stores.records: must be sqlite:PATH or postgres://HOST/DATABASE, optionally with ?schema=NAME or ?sslmode=require',
  ],
  [
    'a records store with malformed percent-encoding in its database',
    'stores: { records: »postgres://postern@db/%ff }',
    'stores.records: must have a percent-encoded database name',
  ],
  [
    'a sentinel without the name of its master',
    'stores: { sessions: »"redis+sentinel://a,b" }',
    'stores.sessions: must be sqlite:PATH, redis://HOST, rediss://HOST, redis+sentinel://HOST,HOST/NAME, redis+cluster://HOST,HOST or redis+unix:PATH',
  ],
  [
    'a redis port beyond the range',
    'stores: { sessions: »redis://a:65536 }',
    'stores.sessions: must be sqlite:PATH, redis://HOST, rediss://HOST, redis+sentinel://HOST,HOST/NAME, redis+cluster://HOST,HOST or redis+unix:PATH',
  ],
  [
    'a scope with a quote',
    'scopes: { »a"b: x }',
    'scopes.a"b: must be a scope token (RFC 6749): visible ASCII without " and \\',
  ],
  [
    'an endpoint served by nobody known',
    'endpoints: { users: »none }',
    'endpoints.users: must be one of own, upstream, off (none)',
  ],
];

testRows(values);
