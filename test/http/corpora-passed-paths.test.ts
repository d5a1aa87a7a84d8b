import t from 'tap';
import { type PathsKey, pathsKeys } from '../../src/config/values/passed-by.ts';
import { connectRaw, type RawConnection, type RawResponse } from '../support/clients/raw-client.ts';
import { readCorpus } from '../support/corpora/corpus.ts';
import { type Forwarding, startForwarding } from '../support/gateway/forwarding.ts';
import { isLong } from '../support/gateway/gateway-under-load.ts';

/** A path below a route, and the outcome where the route passes all that the path needs; elsewhere it is 400. */
interface PassedPathRow {
  readonly name: string;
  readonly path: string;
  readonly needs: readonly PathsKey[];
  readonly expect: 'forwarded' | 400 | 404;
}

const corpus = readCorpus<PassedPathRow>('passed-paths');

type Switches = ReadonlySet<PathsKey>;

/** Every combination of the switches. */
const combinations: readonly Switches[] = Array.from(
  { length: 2 ** pathsKeys.length },
  (_, bits) => new Set(pathsKeys.filter((_key, index) => (bits >> index) % 2 === 1)),
);

/** The combinations that a row is tried with: all, or those that differ from what it needs by one or by everything else. */
function triedWith({ needs }: PassedPathRow): readonly Switches[] {
  if (isLong) return combinations;
  return combinations.filter((on) => {
    const missing = needs.filter((key) => !on.has(key)).length;
    const more = on.size - (needs.length - missing);
    return (missing <= 1 && more === 0) || (missing <= 1 && more === pathsKeys.length - needs.length);
  });
}

const prefixOf = (on: Switches) => `/c${combinations.indexOf(on)}`;
const valuesOf = (on: Switches) =>
  Object.fromEntries(pathsKeys.map((key) => [key, on.has(key) ? 'pass' : 'refuse']));

/** A lax route for each combination, with stricter ones in it. */
const routes = combinations.flatMap((on) => {
  const paths = valuesOf(on);
  const prefix = prefixOf(on);
  return [
    { prefix, upstream: 'app', public: true, paths },
    { prefix: `${prefix}/strict`, upstream: 'app', scopes: ['store:write'] },
    { exact: `${prefix}/only`, upstream: 'app', scopes: ['store:write'] },
  ];
});

/** Sends requests, on one connection for as long as that stays open. */
function createSender({ port }: Forwarding) {
  let connection: RawConnection | null = null;
  return async (target: string): Promise<RawResponse> => {
    connection ??= await connectRaw(port);
    connection.write(`GET ${target} HTTP/1.1\r\nHost: gateway.example\r\n\r\n`);
    const response = await connection.response();
    if (response.values('connection').includes('close')) connection = null;
    return response;
  };
}

for (const engine of ['built_in', 'node'])
  t.test(`paths that a route lets through, by each of its switches, with the engine ${engine}`, async (t) => {
    const gateway = await startForwarding(t, { listen: { engine }, routes });
    const send = createSender(gateway);
    let forwarded = 0;
    const wrong: string[] = [];
    for (const row of corpus)
      for (const on of triedWith(row)) {
        const target = prefixOf(on) + row.path;
        const passes = row.needs.every((key) => on.has(key));
        const wanted = passes ? row.expect : 400;
        const { status } = await send(target);
        const seen = gateway.upstream.seen.splice(0).map((request) => request.target);
        if (status === 200) forwarded += 1;
        const isRight =
          wanted === 'forwarded'
            ? status === 200 && seen.length === 1 && seen[0] === target
            : status === wanted && seen.length === 0;
        if (!isRight) wrong.push(`${row.name} (${target}) with ${[...on]}: ${status}, ${seen}`);
      }
    t.strictSame(wrong, [], 'as the corpus says, and what is forwarded arrives byte for byte');
    t.ok(forwarded > 20, `${forwarded} were forwarded`);
  });

const allPass = Object.fromEntries(pathsKeys.map((key) => [key, 'pass']));

t.test('a route has its keys in place of those of the file, one by one', async (t) => {
  const gateway = await startForwarding(t, {
    paths: { semicolons: 'pass', encoded_delimiters: 'pass' },
    routes: [
      { prefix: '/file', upstream: 'app', public: true },
      {
        prefix: '/own',
        upstream: 'app',
        public: true,
        paths: { encoded_delimiters: 'refuse', encoded_slashes: 'pass' },
      },
    ],
  });
  const send = createSender(gateway);
  const rows: [target: string, status: number][] = [
    ['/file/a;b', 200],
    ['/file/a%23b', 200],
    ['/file/a%2fb', 400],
    ['/own/a;b', 200],
    ['/own/a%23b', 400],
    ['/own/a%2fb', 200],
    ['/own/a%5cb', 400],
  ];
  for (const [target, status] of rows) t.equal((await send(target)).status, status, target);
  await gateway.reload({
    routes: [{ prefix: '/file', upstream: 'app', public: true, paths: { encoded_backslashes: 'pass' } }],
  });
  const anew = createSender(gateway);
  t.equal((await anew('/file/a%5cb')).status, 200, 'after a reload');
  t.equal((await anew('/file/a%23b')).status, 400, 'after a reload');
});

t.test(
  'own paths and paths without a route pass nothing, and no reading of a path is an own one',
  async (t) => {
    const gateway = await startForwarding(t, {
      paths: allPass,
      web: { path: '/Postern' },
      routes: [
        { prefix: '/api', upstream: 'app', public: true },
        { prefix: '/Postern.old', upstream: 'app', public: true },
        { prefix: '/p', upstream: 'app', public: true },
      ],
    });
    const send = createSender(gateway);
    const rows: [target: string, status: number][] = [
      ['/api/x%23', 200],
      ['/api/login/x%23', 400],
      ['/api/login/x;y', 400],
      ['/api/logout/%2525', 400],
      ['/Postern/sign-in;x', 400],
      ['/Postern/sign-in%5c', 400],
      ['/elsewhere', 404],
      ['/elsewhere/x%23', 400],
      ['/elsewhere/x;y', 400],
      ['/elsewhere;y', 400],
      ['/api/login%23', 404],
      ['/api/login;x/access-token', 404],
      ['/api/%256cogin', 404],
      ['/api/%25256cogout%3fx', 404],
      ['/api/%5clogout', 404],
      ['/api/Login%252f', 404],
      ['/p/x', 200],
      ['/api/logins%23', 200],
    ];
    for (const [target, status] of rows) t.equal((await send(target)).status, status, target);
    t.strictSame(
      gateway.upstream.seen.map(({ target }) => target),
      rows.filter(([, status]) => status === 200).map(([target]) => target),
    );
  },
);

t.test('a page in an area with capitals is an own one in any case', async (t) => {
  const gateway = await startForwarding(t, {
    web: { path: '/Postern' },
    routes: [{ prefix: '/', upstream: 'app', public: true }],
  });
  const send = createSender(gateway);
  for (const target of ['/postern', '/postern/sign-in', '/POSTERN/x'])
    t.equal((await send(target)).status, 404, target);
  t.equal((await send('/posters')).status, 200);
  t.equal(gateway.upstream.seen.length, 1);
});

t.test('a path with thousands of readings is refused, at once', async (t) => {
  const gateway = await startForwarding(t, {
    paths: allPass,
    limits: { target_bytes: '16KiB', header_bytes: '32KiB' },
  });
  const levels = [
    ';a',
    '%3bb',
    '%253bc',
    '%25253bd',
    '%2525253be',
    '%5cf',
    '%255cg',
    '%25255ch',
    '%2525255ci',
  ];
  const many = `/api/open/${levels
    .map((level) => `${level}%2f%252f%25252f`)
    .join('')
    .repeat(60)}`;
  t.ok(many.length > 8_000);
  t.equal((await createSender(gateway)(many)).status, 400);
  t.equal(
    (await createSender(gateway)(`/api/open/${'a%20b;c%23'.repeat(700)}`)).status,
    200,
    'a long one is not',
  );
  t.equal(gateway.upstream.seen.length, 1);
});
