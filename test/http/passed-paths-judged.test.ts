import fc from 'fast-check';
import t from 'tap';
import { pathsKeys } from '../../src/config/values/passed-by.ts';
import { connectRaw, type RawConnection } from '../support/clients/raw-client.ts';
import { readCorpus } from '../support/corpora/corpus.ts';
import { readNaively, routeNaively, weightOf } from '../support/corpora/naive-paths.ts';
import { type Forwarding, startForwarding } from '../support/gateway/forwarding.ts';
import { isLong } from '../support/gateway/gateway-under-load.ts';

/** A lax route for each combination of the switches, with stricter ones in it. */
const combinations = Array.from({ length: 2 ** pathsKeys.length }, (_, bits) => {
  const values = pathsKeys.map((key, index) => [key, (bits >> index) % 2 === 1 ? 'pass' : 'refuse']);
  return { prefix: `/c${bits}`, paths: Object.fromEntries(values) };
});

/** Postern's own areas are in the laxest route of all. */
const laxest = combinations.at(-1)!.prefix;
const own = [`${laxest}/api`, `${laxest}/pages`];
const strict = combinations.flatMap(({ prefix }) => [`${prefix}/strict`, `=${prefix}/only`]);
const places = [...combinations.map(({ prefix }) => prefix), ...strict];
const isLax = (label: string) => !strict.includes(label);

const nameOf = (label: string) => label.replace('=', 'exact').replaceAll('/', '-');

/** Each route has an upstream of its own, which is told the route that the request was judged by. */
const configOf = (url: string) => ({
  api_path: own[0],
  web: { path: own[1] },
  upstreams: Object.fromEntries(
    places.map((label) => [`up${nameOf(label)}`, { url, headers: { 'X-Judged-By': label } }]),
  ),
  routes: [
    ...combinations.map(({ prefix, paths }) => ({
      ...{ prefix, upstream: `up${nameOf(prefix)}`, public: true, authorization: 'pass', paths },
    })),
    ...strict.map((label) => ({
      ...(label.startsWith('=') ? { exact: label.slice(1) } : { prefix: label }),
      ...{ upstream: `up${nameOf(label)}`, scopes: ['store:write'] },
    })),
  ],
});

const passed = 'Authorization: Token mine';

/** Sends a request, on one connection for as long as that stays open; its status. */
function createSender({ port }: Forwarding) {
  let connection: RawConnection | null = null;
  return async (target: string, line: string): Promise<number> => {
    connection ??= await connectRaw(port);
    connection.write(`GET ${target} HTTP/1.1\r\nHost: gateway.example\r\n${line}\r\n\r\n`);
    const response = await connection.response();
    if (response.values('connection').includes('close')) connection = null;
    return response.status;
  };
}

/** Problems with what the upstream saw of a request: a server may read its target as another route's, or an own path. */
function problemsOf(target: string, line: string, seen: Forwarding['upstream']['seen']): string[] {
  const [request, ...more] = seen;
  if (request === undefined) return [];
  const [label = '', ...labels] = request.values('x-judged-by');
  const problems = more.length + labels.length === 0 ? [] : ['more than one request or route'];
  if (request.target !== target) problems.push(`${request.target} in its place`);
  if (routeNaively(places, target) !== label) problems.push(`judged by ${label}`);
  const { isRefused, paths } = readNaively(target);
  if (isRefused) problems.push('not to be read');
  for (const path of paths) {
    const read = routeNaively([...places, ...own], path);
    if (read !== undefined && weightOf(read) > weightOf(label)) problems.push(`read as ${path}`);
  }
  const wanted = line === passed && isLax(label) ? ['Token mine'] : [];
  if (request.values('authorization').join() !== wanted.join()) problems.push('another Authorization');
  if (request.values('x-api-key').length > 0) problems.push('a key');
  return problems;
}

const piece = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('/', ';', '%3b', '%2F', '%2f', '%5c', '%5C', '%23', '%3f', '%3F') },
  { weight: 4, arbitrary: fc.constantFrom('strict', 'only', 'api', 'pages', 'login', 'STRICT', 'Only') },
  {
    weight: 1,
    arbitrary: fc.constantFrom('x', '%20', '%25', '%25zz', '%C3%A9', '.', '..', '%252e', 'st%2572ict'),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.constantFrom('2f', '5C', '3b', '23', '3f', '73', '4f', '%'), fc.integer({ min: 1, max: 3 }))
      .map(([digits, times]) => `%${'25'.repeat(times)}${digits}`),
  },
);
const target = fc
  .tuple(
    fc.oneof(
      { weight: 2, arbitrary: fc.constant(laxest) },
      { weight: 1, arbitrary: fc.constantFrom(...combinations.map(({ prefix }) => prefix)) },
    ),
    fc.constantFrom('/', '%2f', '%5c', ';x/', '%23/', ''),
    fc.array(piece, { maxLength: 6 }),
  )
  .map(([prefix, slash, pieces]) => prefix + slash + pieces.join(''));

const cases = { numRuns: isLong ? 25_000 : 300 };

for (const engine of ['built_in', 'node'])
  t.test(
    `no server reads what is forwarded as another route’s than the one it was judged by, with the engine ${engine}`,
    async (t) => {
      const start = await startForwarding(t);
      const gateway = await startForwarding(t, { listen: { engine }, ...configOf(start.upstream.url) });
      const { seen } = start.upstream;
      const send = createSender(gateway);
      const outcomes = { forwarded: 0, lax: 0, closer: 0 };
      const judge = async (target: string) => {
        for (const line of [passed, `X-API-Key: ${gateway.key}`]) {
          const status = await send(target, line);
          if (status === 404) outcomes.closer += 1;
          const label = seen[0]?.values('x-judged-by')[0];
          if (label !== undefined) outcomes.forwarded += 1;
          if (label !== undefined && isLax(label)) outcomes.lax += 1;
          const problems = problemsOf(target, line, seen.splice(0));
          if (problems.length > 0)
            throw new Error(`${target} with ${line.slice(0, 15)}: ${problems.join(', ')}`);
        }
      };
      for (const { path } of readCorpus<{ path: string }>('passed-paths'))
        for (const { prefix } of isLong ? combinations : combinations.slice(-1)) await judge(prefix + path);
      await fc.assert(fc.asyncProperty(target, judge), cases);
      const { forwarded, lax, closer } = outcomes;
      const enough = cases.numRuns / 25;
      t.ok(forwarded > enough && lax > enough && closer > enough, JSON.stringify(outcomes));
    },
  );
