import t from 'tap';
import { loadGood, type Row, testRows } from './config-rows.ts';

const rule = 'api_path: must be one to four segments of A-Z, a-z, 0-9, . _ ~ - such as /gate/api';
const routed = (path: string) =>
  `upstreams: { app: { url: builtin:echo } }\nroutes: [{ prefix: ${path}, upstream: app }]\n`;

const rows: Row[] = [
  ['no path', 'api_path: »gate', `${rule} (gate)`],
  ['the whole host', 'api_path: »/', `${rule} (/)`],
  ['five segments', 'api_path: »/a/b/c/d/e', `${rule} (/a/b/c/d/e)`],
  ['a slash at its end', 'api_path: »/gate/', `${rule} (/gate/)`],
  ['a dot segment', 'api_path: »/gate/..', `${rule} (/gate/..)`],
  ['an escape', 'api_path: »/g%61te', `${rule} (/g%61te)`],
  [
    'a well-known path',
    'api_path: »/.Well-Known/gate',
    "api_path: can't be in /.well-known (/.Well-Known/gate)",
  ],
  [
    'the path of the pages',
    'api_path: »/postern\nweb: {}',
    'api_path: must be neither web.path, /postern, nor above it (/postern)',
  ],
  [
    'above the pages, for servers that fold case',
    'api_path: »/Pages\nweb: { path: /pages/staff }',
    'api_path: must be neither web.path, /pages/staff, nor above it (/Pages)',
  ],
  [
    '/api by choice, above the pages',
    'api_path: »/api\nweb: { path: /api/pages }',
    'api_path: must be neither web.path, /api/pages, nor above it (/api)',
  ],
  [
    'a page',
    'api_path: »/postern/sign-in/api\nweb: {}',
    "api_path: can't be in /postern/sign-in: pages are there (/postern/sign-in/api)",
  ],
  [
    'a cookie that no request to it has',
    'api_path: /gate/api\nsessions: { cookie: { path: »/api } }',
    'sessions.cookie.path: must be api_path, /gate/api, or above it: no request to the API would have the cookie (/api)',
  ],
  [
    'a cookie for a part of it',
    'sessions: { cookie: { path: »/api/login } }',
    'sessions.cookie.path: must be api_path, /api, or above it: no request to the API would have the cookie (/api/login)',
  ],
  [
    'a route in it',
    `api_path: /gate/api\n${routed('»/gate/api/orders')}`,
    'routes[0].prefix: is in /gate/api, which Postern serves itself (/gate/api/orders)',
  ],
  [
    'a route in it for servers that fold case',
    `api_path: /Gate\n${routed('»/gate/orders')}`,
    'routes[0].prefix: is in /Gate, which Postern serves itself (/gate/orders)',
  ],
  [
    'a broken one, which spoils nothing else',
    `api_path: »gate\n${routed('/api/login')}sessions: { cookie: { path: /elsewhere } }\nweb: { path: /api/pages }`,
    `${rule} (gate)`,
  ],
];

testRows(rows);

t.test('the refresh cookie is for the API unless the file says more', async (t) => {
  const pathOf = (yaml: string) => loadGood(t, yaml).config.sessions.cookie.path;
  t.equal(pathOf(''), '/api');
  t.equal(pathOf('api_path: /gate/api'), '/gate/api');
  t.equal(pathOf('api_path: /gate/api\nsessions: { cookie: { name: mine } }'), '/gate/api');
  for (const path of ['/', '/gate', '/gate/', '/gate/api', '/gate/api/'])
    t.equal(pathOf(`api_path: /gate/api\nsessions: { cookie: { path: ${path} } }`), path);
});

t.test('what is allowed', async (t) => {
  const good = [
    'api_path: /a/b/c/d',
    'api_path: /postern/api\nweb: {}',
    'api_path: /postern/gate/api\nweb: {}',
    'api_path: /posterns\nweb: {}',
    'api_path: /api/gate\nweb: { path: /api }',
    'api_path: /gate\nweb: { path: /api/pages }',
    `api_path: /gate\n${routed('/api/login')}`,
    'api_path: /gate\nendpoints: { self: own, self_sessions: upstream }',
  ];
  for (const yaml of good) loadGood(t, yaml);
});
