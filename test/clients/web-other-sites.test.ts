import t, { type Test } from 'tap';
import { eventually } from '../support/gateway/forwarding.ts';
import {
  assertStillSignedIn,
  type OtherSites,
  responsesFrom,
  startOtherSites,
} from '../support/pages/other-sites.ts';

t.setTimeout(600_000);

const pages = [
  '/postern/',
  '/postern/sign-in',
  '/postern/sign-out',
  '/postern/password',
  '/postern/activate',
  '/postern/invitation',
];
const service = '/app';
const targets = [...pages, service, '/api/logout', '/api/self/sessions/'];

/** What our responses are to what another origin's page sends: with the cookie (a neighbour's) and without it. */
const responses: Readonly<Record<string, readonly string[]>> = {
  // Who is signed in is not looked at: the home page and the one for the password lead to the sign-in page.
  reads: [
    ...[
      'GET /postern/ 302',
      'GET /postern/sign-in 200',
      'GET /postern/sign-out 200',
      'GET /postern/password 302',
    ],
    ...['GET /postern/activate 409', 'GET /postern/invitation 200'],
    ...['GET /app 401', 'GET /api/logout 401', 'GET /api/self/sessions/ 401'],
  ],
  sends: [
    ...[
      'POST /postern/ 405',
      'POST /postern/sign-in 403',
      'POST /postern/sign-out 403',
      'POST /postern/password 403',
    ],
    ...['POST /postern/activate 403', 'POST /postern/invitation 403'],
    ...['POST /app 403', 'POST /app 401', 'POST /api/logout 405', 'POST /api/self/sessions/ 405'],
  ],
  // Preflights without any permission.
  asks: [
    ...pages.map((path) => `OPTIONS ${path} 204`),
    'OPTIONS /app 401',
    'OPTIONS /api/logout 204',
    'OPTIONS /api/self/sessions/ 204',
  ],
  upgrades: [
    ...[
      'GET /postern/ 403',
      'GET /postern/sign-in 403',
      'GET /postern/sign-out 200',
      'GET /postern/password 403',
    ],
    ...['GET /postern/activate 409', 'GET /postern/invitation 200'],
    ...['GET /app 403', 'GET /api/logout 401', 'GET /api/self/sessions/ 401'],
  ],
  // A neighbour's speculation is a link that is followed early: shown if it is followed, and until then to no one.
  speculates: [
    ...[
      'GET /postern/ 200',
      'GET /postern/sign-in 303',
      'GET /postern/sign-out 200',
      'GET /postern/password 200',
    ],
    ...['GET /postern/activate 409', 'GET /postern/invitation 200'],
    // The sign-in page leads on to the start of the service.
    'GET / 200',
    ...['GET /app 200', 'GET /api/logout 401', 'GET /api/self/sessions/ 401'],
  ],
  nothing: [],
};

type Learned = 'refused' | 'opaque';
/** `fromStranger`, where a browser sends something else, or nothing, to another site. */
type Row = readonly [
  attack: string,
  fromPages: Learned,
  fromService: Learned,
  does: string,
  fromStranger?: string,
];

const rows: readonly Row[] = [
  ['an image', 'refused', 'refused', 'reads'],
  ['an image with credentials', 'refused', 'refused', 'reads'],
  ['a script', 'refused', 'refused', 'reads'],
  ['a module', 'refused', 'refused', 'reads'],
  ['a style sheet', 'refused', 'refused', 'reads'],
  ['a video', 'refused', 'refused', 'reads'],
  ['a preload', 'refused', 'refused', 'reads'],
  ['a preload of an image', 'refused', 'refused', 'reads'],
  ['a preload of a module', 'refused', 'refused', 'reads'],
  ['a picture of a style', 'opaque', 'opaque', 'reads'],
  ['an import of a style', 'opaque', 'opaque', 'reads'],
  ['a frame', 'opaque', 'opaque', 'reads'],
  ['a frame in a sandbox', 'opaque', 'opaque', 'reads'],
  ['an object', 'refused', 'refused', 'reads'],
  ['an embed', 'opaque', 'opaque', 'reads'],
  ['fetch', 'refused', 'opaque', 'reads'],
  ['fetch that sends', 'refused', 'opaque', 'sends'],
  ['fetch of text that sends', 'refused', 'opaque', 'sends'],
  ['fetch with CORS', 'refused', 'refused', 'reads'],
  ['fetch with CORS that sends', 'refused', 'refused', 'sends'],
  ['fetch with JSON', 'refused', 'refused', 'asks'],
  ['fetch that deletes', 'refused', 'refused', 'asks'],
  ['fetch with headers of ours', 'refused', 'refused', 'asks'],
  ['fetch that pretends', 'refused', 'opaque', 'reads'],
  ['fetch that only looks for redirections', 'refused', 'refused', 'reads'],
  ['fetch by a frame without an origin', 'refused', 'opaque', 'sends'],
  ['XMLHttpRequest', 'refused', 'refused', 'reads'],
  ['a beacon', 'opaque', 'opaque', 'sends'],
  ['a beacon with JSON', 'opaque', 'opaque', 'asks'],
  ['a ping', 'opaque', 'opaque', 'sends'],
  // Without the cookie, which a browser keeps from another site's WebSocket, there is nothing to refuse.
  ['a WebSocket', 'refused', 'refused', 'upgrades', 'reads'],
  ['an EventSource', 'refused', 'refused', 'reads'],
  ['a service worker', 'refused', 'refused', 'nothing'],
  ['a worker', 'refused', 'refused', 'nothing'],
  ['a script of a worker', 'refused', 'refused', 'reads'],
  ['an import', 'refused', 'refused', 'reads'],
  ['a font', 'refused', 'refused', 'reads'],
  ['a prefetch', 'refused', 'refused', 'reads'],
  ['a prefetch by a rule', 'opaque', 'opaque', 'speculates', 'nothing'],
  ['a prerender by a rule', 'opaque', 'opaque', 'speculates', 'nothing'],
  ['an entry of the history', 'refused', 'refused', 'nothing'],
  ['a cache of this page', 'refused', 'refused', 'reads'],
];

async function attack(t: Test, stage: OtherSites, origin: string, row: Row, does: string): Promise<void> {
  const [name, fromPages, fromService] = row;
  const { page, site } = stage;
  // A fresh page: what another attack has loaded is not used again.
  await page.goto(origin);
  const line = site.logLines().length;
  const seenBefore = site.upstream.seen.length;
  const urls = targets.map((path) => site.origin + path);
  const learned = await page.evaluate<string[]>(
    `Promise.all(${JSON.stringify(urls)}.map((url) => attacks[${JSON.stringify(name)}](url)))`,
  );
  t.same(
    learned,
    targets.map((path) => (pages.includes(path) ? fromPages : fromService)),
    'what the page learned',
  );
  t.equal(new URL(page.url()).origin, origin, 'it stays where it is');

  const expected = responses[does]!;
  const isSpeculation = does === 'speculates';
  // A browser need not do all that a rule allows.
  if (expected.length > 0)
    await eventually(() => responsesFrom(site, line).length >= (isSpeculation ? 1 : targets.length));
  for (const response of responsesFrom(site, line)) t.ok(expected.includes(response), response);
  const seen = site.upstream.seen.slice(seenBefore);
  t.same(
    seen.filter(({ method }) => !isSpeculation || method !== 'GET'),
    [],
    'the service saw nothing',
  );
  t.same(site.sockets.accepted.length, 0, 'no WebSocket either');
  await assertStillSignedIn(t, stage);
}

t.test('pages of other sites make requests without leaving', async (t) => {
  const stage = await startOtherSites(t, 'other-site.js');
  if (stage === null) return;
  const { page, neighbour, stranger } = stage;

  await page.goto(neighbour);
  t.same(
    await page.evaluate('Object.keys(attacks)'),
    rows.map(([attack]) => attack),
    'every attack is a row',
  );
  for (const row of rows) {
    const [name, , , does, fromStranger = does] = row;
    await t.test(`${name}, from a neighbour`, (t) => attack(t, stage, neighbour, row, does));
    await t.test(`${name}, from a stranger`, (t) => attack(t, stage, stranger, row, fromStranger));
  }
});

t.test('a WebSocket of the service opens from a page of ours alone', async (t) => {
  const stage = await startOtherSites(t, 'other-site.js');
  if (stage === null) return;
  const { page, site, neighbour, stranger } = stage;
  const opens = (address: string) =>
    page.evaluate(`new Promise((resolve) => {
      const socket = new WebSocket(${JSON.stringify(address.replace('http', 'ws'))} + '/live');
      socket.onopen = () => resolve('opened');
      socket.onerror = () => resolve('refused');
    })`);
  for (const origin of [neighbour, stranger]) {
    await page.goto(origin);
    t.equal(await opens(site.origin), 'refused', origin);
  }
  t.equal(site.sockets.accepted.length, 0);
  await page.goto(`${site.origin}/app`);
  t.equal(await opens(site.origin), 'opened');
  t.equal(site.sockets.accepted.length, 1);
});
