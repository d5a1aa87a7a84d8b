import type { WrongConfiguration } from './wrong-configuration.ts';

/** Values that are wrong by themselves, and YAML that can not be read. */
export const wrongValues: readonly WrongConfiguration[] = [
  [
    'a misspelt section, and nothing that follows from it',
    'upstream: { app: { url: builtin:echo } }\nroutes: [{ prefix: /, upstream: app }]',
    '1:1: upstream: unknown key: did you mean "upstreams"?',
  ],
  [
    'a misspelt key of a section',
    'listen: { prot: 8080 }',
    '1:11: listen.prot: unknown key: did you mean "port"?',
  ],
  [
    'a key in camel case',
    'baseUrl: http://a\ntenant: a',
    '1:1: baseUrl: unknown key: did you mean "base_url"?',
  ],
  [
    'a fixed header with a line break',
    'upstreams: { app: { url: "http://127.0.0.1:9", headers: { X-Secret: "a\\nb" } } }',
    '1:69: upstreams.app.headers.X-Secret: must not contain control characters, nor begin or end with a space',
  ],
  [
    'a header of Postern that should pass',
    'headers: { pass: [X-Auth-Subject] }',
    "1:19: headers.pass[0]: is a name of Postern's own (X-Auth-Subject)",
  ],
  [
    'a header that needs no permission to pass',
    'headers: { pass: [Private-Token] }',
    '1:19: headers.pass[0]: must be a name that begins with X-Auth-, of letters, digits and - (Private-Token)',
  ],
  [
    'a port in words',
    'listen: { port: eighty }',
    '1:17: listen.port: must be a whole number from 0 to 65535 (eighty)',
  ],
  [
    'a port that is too large',
    'listen: { port: 180800 }',
    '1:17: listen.port: must be a whole number from 0 to 65535 (180800)',
  ],
  [
    'a port in quotes',
    'listen: { port: "8080" }',
    '1:17: listen.port: must be a whole number from 0 to 65535, without quotes ("8080")',
  ],
  [
    'a negative port',
    'listen: { port: -1 }',
    '1:17: listen.port: must be a whole number from 0 to 65535 (-1)',
  ],
  [
    'a port from a variable that holds a word',
    'listen: { port: { env: WORD } }',
    '1:17: listen.port: must be a whole number from 0 to 65535 (from environment variable WORD)',
  ],
  [
    'a variable that is not set',
    'bootstrap: { token: { env: NOPE } }',
    '1:21: bootstrap.token: environment variable NOPE is not set',
  ],
  [
    'a secret file that is not there',
    'bootstrap: { token: { file: none } }',
    "1:21: bootstrap.token: file none can't be read: no such file (ENOENT)",
  ],
  [
    'a host with its port',
    'listen: { host: "127.0.0.1:8080" }',
    '1:17: listen.host: must be an IP address or a host name, without brackets and port (127.0.0.1:8080)',
  ],
  [
    'an address that is none',
    'listen: { host: 300.1.1.1 }',
    '1:17: listen.host: must be an IP address or a host name, without brackets and port (300.1.1.1)',
  ],
  [
    'an address in brackets',
    'management: { host: "[::1]" }',
    '1:21: management.host: must be an IP address or a host name, without brackets and port ([::1])',
  ],
  [
    'an upstream with a slash at its end',
    'upstreams: { app: { url: http://127.0.0.1:9000/ } }',
    '1:26: upstreams.app.url: must not end with a slash: http://127.0.0.1:9000 (http://127.0.0.1:9000/)',
  ],
  [
    'an upstream with an escape in its path',
    'upstreams: { app: { url: http://127.0.0.1:9000/a%20b } }',
    '1:26: upstreams.app.url: must have a path of plain segments, without escapes, ; and empty or dot segments, or none (http://127.0.0.1:9000/a%20b)',
  ],
  [
    'a spelling of paths that neither passes nor is refused',
    'upstreams: { app: { url: builtin:echo } }\nroutes: [{ prefix: /, upstream: app, paths: { encoded_percent: allow } }]',
    '2:64: routes[0].paths.encoded_percent: must be one of refuse, pass (allow)',
  ],
  [
    'an upstream without a scheme',
    'upstreams: { app: { url: 127.0.0.1:9000 } }',
    '1:26: upstreams.app.url: must be http(s)://HOST:PORT without user and query, unix:PATH or builtin:echo (127.0.0.1:9000)',
  ],
  [
    'an upstream of another scheme',
    'upstreams: { app: { url: ws://127.0.0.1:9000 } }',
    '1:26: upstreams.app.url: must be http(s)://HOST:PORT without user and query, unix:PATH or builtin:echo (ws://127.0.0.1:9000)',
  ],
  [
    'an upstream with a port that is too large',
    'upstreams: { app: { url: http://127.0.0.1:99999 } }',
    '1:26: upstreams.app.url: must be http(s)://HOST:PORT without user and query, unix:PATH or builtin:echo (http://127.0.0.1:99999)',
  ],
  [
    'records in an unknown database',
    'stores: { records: mysql://db/postern }',
    '1:20: stores.records: must be sqlite:PATH or postgres://HOST/DATABASE, optionally with ?schema=NAME or ?sslmode=require',
  ],
  [
    'records in Redis',
    'stores: { records: redis://db }',
    '1:20: stores.records: must be sqlite:PATH or postgres://HOST/DATABASE, optionally with ?schema=NAME or ?sslmode=require',
  ],
  [
    'sessions in PostgreSQL',
    'stores: { sessions: postgres://db/x }',
    '1:21: stores.sessions: must be sqlite:PATH, redis://HOST, rediss://HOST, redis+sentinel://HOST,HOST/NAME, redis+cluster://HOST,HOST or redis+unix:PATH',
  ],
  [
    'a route twice',
    'upstreams: { app: { url: builtin:echo } }\nroutes:\n  - { prefix: /a, upstream: app }\n  - { prefix: /a/, upstream: app }',
    '4:15: routes[1].prefix: duplicates routes[0].prefix (/a/)',
  ],
  [
    'a duration in words',
    'sessions: { idle_lifetime: 10 minutes }',
    '1:28: sessions.idle_lifetime: must be a duration such as 500ms, 10s, 15m, 12h or 30d (10 minutes)',
  ],
  [
    'a duration without a unit',
    'sessions: { idle_lifetime: 600 }',
    '1:28: sessions.idle_lifetime: must be a duration such as 500ms, 10s, 15m, 12h or 30d (600)',
  ],
  [
    'a duration in weeks',
    'sessions: { idle_lifetime: 2w }',
    '1:28: sessions.idle_lifetime: must be a duration such as 500ms, 10s, 15m, 12h or 30d (2w)',
  ],
  [
    'a tab as indentation',
    'listen:\n\tport: 8080',
    '2:1: configuration: is not valid YAML: tab as indentation, use spaces',
  ],
  [
    'a map that is not closed',
    'listen: { port: 8080\nmanagement: { port: 9090 }',
    '2:1: configuration: is not valid YAML: wrong indentation, or a { or [ above is not closed',
  ],
  [
    'a list that is not closed',
    'trusted_proxies: [10.0.0.0/8\nlisten: { port: 1 }',
    '2:1: configuration: is not valid YAML: wrong indentation, or a { or [ above is not closed',
  ],
  [
    'a misspelt scope',
    'upstreams: { app: { url: builtin:echo } }\nscopes: { store:read: R }\nroutes: [{ prefix: /, upstream: app, scopes: [store:raed] }]',
    '3:47: routes[0].scopes[0]: must be a scope in the catalogue: did you mean "store:read"? (store:raed)',
  ],
  [
    'a misspelt upstream of a route',
    'upstreams: { app: { url: builtin:echo } }\nroutes: [{ prefix: /, upstream: apps }]',
    '2:33: routes[0].upstream: must be the name of an upstream: did you mean "app"? (apps)',
  ],
  ['no tenant', 'base_url: http://a.example\n#tenant:', '1:1: tenant: is required'],
  [
    'an API at the whole host',
    'api_path: /',
    '1:11: api_path: must be one to four segments of A-Z, a-z, 0-9, . _ ~ - such as /gate/api (/)',
  ],
  [
    'an API among well-known paths',
    'api_path: /.well-known/gate',
    "1:11: api_path: can't be in /.well-known (/.well-known/gate)",
  ],
];
