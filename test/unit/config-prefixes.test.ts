import { exactModes as exact } from '../../src/config/sections/forward-auth.ts';
import { type Row, testRows } from './config-rows.ts';

const opens = (other: string, shown: string) =>
  `reaches by another path what ${other} reaches on the same server, and one would open what the other guards: strip and prepend the same for both, or separate their paths there (${shown})`;
const exactModes = [...exact];
const one = 'upstreams: { app: { url: http://app:9000 } }';
const withRoutes = (upstreams: string, ...routes: string[]) =>
  `${upstreams}\nroutes:\n${routes.map((route) => `  - ${route}\n`).join('')}`;

const stripped: Row[] = [
  [
    'a prefix that is no beginning of the route’s path',
    withRoutes(
      one,
      '{ prefix: /a/b, upstream: app, strip_prefix: »/a/b/c }',
      '{ prefix: /c, upstream: app, strip_prefix: »/ }',
      '{ exact: /d, upstream: app, strip_prefix: »/D }',
      '{ prefix: /ee, upstream: app, strip_prefix: »/e }',
    ),
    "routes[0].strip_prefix: must be the route's path, /a/b, or its first segments (/a/b/c)",
    "routes[1].strip_prefix: must be the route's path, /c, or its first segments (/)",
    "routes[2].strip_prefix: must be the route's path, /d, or its first segments (/D)",
    "routes[3].strip_prefix: must be the route's path, /ee, or its first segments (/e)",
  ],
  [
    'a prefix on a route that is only decided about',
    'routes: [{ prefix: /a, upstream: none, »strip_prefix: /a }]',
    "routes[0].strip_prefix: can't be combined with upstream: none",
  ],
];

const reached: Row[] = [
  [
    'a lax route that would open what another guards',
    withRoutes(
      one,
      '{ prefix: /files, upstream: app, strip_prefix: »/files, public: true }',
      '{ prefix: /admin, upstream: app }',
    ),
    `routes[0].strip_prefix: ${opens('routes[1].prefix', '/files')}`,
  ],
  [
    'two that strip the whole of their paths',
    withRoutes(
      one,
      '{ prefix: /a, upstream: app, strip_prefix: /a }',
      '{ prefix: /b, upstream: app, strip_prefix: »/b }',
    ),
    `routes[1].strip_prefix: ${opens('routes[0].prefix', '/b')}`,
  ],
  [
    'one by another name of the same server, with another path',
    withRoutes(
      'upstreams: { a: { url: http://localhost:9000/app }, b: { url: http://127.0.0.1:9000 } }',
      '{ prefix: /x, upstream: a }',
      '{ prefix: »/app, upstream: b }',
    ),
    `routes[1].prefix: ${opens('routes[0].prefix', '/app')}`,
  ],
  [
    'the route of everything else',
    withRoutes(
      'upstreams: { a: { url: http://app:9000 }, b: { url: http://app.:9000/admin } }',
      '{ prefix: /, upstream: a, public: true }',
      '{ prefix: /secure, upstream: b, strip_prefix: »/secure }',
    ),
    `routes[1].strip_prefix: ${opens('routes[0].prefix', '/secure')}`,
  ],
  [
    'the route of everything else, where nothing is stripped',
    withRoutes(
      'upstreams: { a: { url: http://app:9000/v1 }, b: { url: http://app:9000 } }',
      '{ prefix: /, upstream: a, public: true }',
      '{ prefix: »/v1/admin, upstream: b }',
    ),
    `routes[1].prefix: ${opens('routes[0].prefix', '/v1/admin')}`,
  ],
  [
    'one on the same socket',
    withRoutes(
      'upstreams: { a: { url: "unix:/run/a.sock" }, b: { url: "unix:/run//./a.sock" } }',
      '{ prefix: /x, upstream: a, strip_prefix: »/x }',
      '{ exact: /y, upstream: b }',
    ),
    `routes[0].strip_prefix: ${opens('routes[1].exact', '/x')}`,
  ],
  [
    'one that only a lax server finds there',
    withRoutes(
      one,
      '{ prefix: /a/Data, upstream: app, strip_prefix: »/a }',
      '{ prefix: /data/x%3Ay, upstream: app }',
    ),
    `routes[0].strip_prefix: ${opens('routes[1].prefix', '/a')}`,
  ],
  [
    'an exact path',
    withRoutes(one, '{ exact: /a/x, upstream: app, strip_prefix: »/a }', '{ exact: /X, upstream: app }'),
    `routes[0].strip_prefix: ${opens('routes[1].exact', '/a')}`,
  ],
];

const decided: Row[] = [
  [
    'odd spellings that a proxy with decisions may change',
    withRoutes(
      `paths: { semicolons: pass, encoded_percent: »pass }\nforward_auth: [{ mode: nginx }, { mode: traefik, port: 0 }]\n${one}`,
      '{ prefix: /a, upstream: app, paths: { encoded_delimiters: »pass, encoded_slashes: pass } }',
      '{ prefix: /b, upstream: app, paths: { encoded_backslashes: refuse } }',
    ),
    ...['paths.encoded_percent', 'routes[0].paths.encoded_delimiters'].map(
      (key) =>
        `${key}: can't be pass while traefik asks for decisions (forward_auth[1]): it is not shown to forward such paths byte for byte (pass)`,
    ),
  ],
  [
    'odd spellings that the proxies keep',
    withRoutes(
      `forward_auth: [${exactModes.map((mode) => `{ mode: ${mode}, port: 0 }`).join(', ')}]\n${one}`,
      '{ prefix: /a, upstream: app, paths: { encoded_delimiters: pass, encoded_backslashes: pass, encoded_percent: pass } }',
    ),
  ],
];

const good: Row[] = [
  [
    'routes that strip alike',
    withRoutes(
      one,
      '{ prefix: /files, upstream: app, strip_prefix: /files }',
      '{ prefix: /files/admin, upstream: app, strip_prefix: /files }',
    ),
  ],
  [
    'routes to different servers',
    withRoutes(
      'upstreams: { a: { url: http://app:9000 }, b: { url: http://app:9001 }, e: { url: builtin:echo } }',
      '{ prefix: /a, upstream: a, strip_prefix: /a }',
      '{ prefix: /b, upstream: b, strip_prefix: /b }',
      '{ prefix: /c, upstream: e, strip_prefix: /c }',
      '{ prefix: /d, upstream: e, strip_prefix: /d }',
    ),
  ],
  [
    'paths that are separate on the server',
    withRoutes(
      'upstreams: { a: { url: http://app:9000/one }, b: { url: http://app:9000/two }, c: { url: http://app:9000 } }',
      '{ prefix: /a, upstream: a, strip_prefix: /a }',
      '{ prefix: /b, upstream: b, strip_prefix: /b }',
      '{ prefix: /onemore, upstream: c }',
      '{ exact: /c, upstream: c, strip_prefix: /c }',
    ),
  ],
  [
    'a path that a more specific route has taken from the laxer one',
    withRoutes(
      'upstreams: { a: { url: http://app:9000/data }, b: { url: http://app:9000 }, e: { url: builtin:echo } }',
      '{ prefix: /files, upstream: a, strip_prefix: /files }',
      '{ prefix: /, upstream: b }',
      '{ prefix: /data, upstream: e }',
    ),
  ],
  [
    'a path that the server has under the route’s own',
    withRoutes(
      'upstreams: { a: { url: http://app:9000/files }, b: { url: http://app:9000 } }',
      '{ prefix: /files, upstream: a, strip_prefix: /files }',
      '{ prefix: /, upstream: b }',
    ),
  ],
];

testRows([...stripped, ...reached, ...decided, ...good]);
