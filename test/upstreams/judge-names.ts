import type { Test } from 'tap';
import { exactModes } from '../../src/config/sections/forward-auth.ts';
import { type PathsKey, pathsKeys } from '../../src/config/values/passed-by.ts';
import { requestByHttp2 } from '../support/clients/http2-request.ts';
import { readCorpus } from '../support/corpora/corpus.ts';
import { readNaively, routeNaively, weightOf } from '../support/corpora/naive-paths.ts';
import { isLong } from '../support/gateway/gateway-under-load.ts';
import type { AskingProxy, askingProxies } from './asking-proxies.ts';
import { pathTricks } from './path-tricks.ts';
import { type ProxyBench, startBench } from './proxy-bench.ts';

/** A path below a route, what the route has to pass for it, and the outcome then; elsewhere it is 400. */
interface PassedPathRow {
  readonly path: string;
  readonly needs: readonly PathsKey[];
  readonly expect: 'forwarded' | number;
}

/** Keys of `paths` that a mode may have, each alone and all together. */
function switchesOf({ mode }: AskingProxy): readonly (readonly PathsKey[])[] {
  const keys = exactModes.has(mode) ? pathsKeys : (['semicolons', 'encoded_slashes'] as const);
  return [...keys.map((key) => [key]), keys];
}

/** Paths of Postern's own. */
const own = ['/api/login', '/api/logout', '/api/admin/api-keys', '/.well-known/jwks.json'];

const prefixOf = (index: number) => `/names/${index}`;
const passing = (keys: readonly PathsKey[]) => Object.fromEntries(keys.map((key) => [key, 'pass']));

/** For each of the switches a lax route with stricter ones in it, and the laxest for everything else. */
function routesOf(switches: readonly (readonly PathsKey[])[]): object[] {
  const strict = { upstream: 'app', scopes: ['store:write'] };
  return [
    { prefix: '/', upstream: 'app', public: true, paths: passing(switches.at(-1)!) },
    ...switches.flatMap((keys, index) => [
      { prefix: prefixOf(index), upstream: 'app', public: true, paths: passing(keys) },
      { prefix: `${prefixOf(index)}/strict`, ...strict },
      { exact: `${prefixOf(index)}/only`, ...strict },
    ]),
  ];
}

/** A target, and how often it has to arrive; undefined: as often as it is judged. */
type Sent = readonly [target: string, arrives: number | undefined];

/**
 * Every spelling that a route may pass, by each key of `paths` and by all, where the mode allows them: what is allowed reaches the
 * service byte for byte, and nothing reaches it that was not judged in that spelling, or that some server reads as the path of a
 * stricter route or as one of Postern's own.
 */
export async function judgeNames(
  t: Test,
  name: keyof typeof askingProxies,
  proxy: AskingProxy,
): Promise<void> {
  const switches = switchesOf(proxy);
  const bench = await startBench(t, name, proxy, { config: { routes: routesOf(switches) } });
  if (bench === undefined) return;
  const isExact = exactModes.has(proxy.mode);
  const both = proxy.speaksHttp2 ? 2 : 1;
  const rows = readCorpus<PassedPathRow>('passed-paths').flatMap(({ path, needs, expect }) =>
    switches.map((keys, index): Sent => {
      const isForwarded = expect === 'forwarded' && needs.every((key) => keys.includes(key));
      return [prefixOf(index) + path, isForwarded ? (isExact ? both : undefined) : 0];
    }),
  );
  const aims = [...own, `${prefixOf(switches.length - 1)}/strict`];
  const tricks = aims.flatMap((path) => pathTricks(path).map(({ target }): Sent => [target, undefined]));
  const some = tricks.filter((_, index) => isLong || index % 29 === 0);
  const lax = switches.map((_, index) => prefixOf(index));
  const places = ['/', ...lax, ...lax.flatMap((prefix) => [`${prefix}/strict`, `=${prefix}/only`]), ...own];
  await sendNames(t, bench, proxy, [...rows, ...some], places);
}

async function sendNames(
  t: Test,
  bench: ProxyBench,
  { speaksHttp2 }: AskingProxy,
  targets: readonly Sent[],
  places: readonly string[],
): Promise<void> {
  const { send, upstream } = bench;
  const wrong: string[] = [];
  const seen = [];
  for (const [target, arrives] of targets) {
    const status = await send(`GET ${target} HTTP/1.1`);
    if (speaksHttp2 && arrives !== 0) await requestByHttp2(bench.proxyPort, target);
    const these = upstream.seen.splice(0);
    seen.push(...these);
    const asSent = these.filter((each) => each.target === target).length;
    if (arrives !== undefined && asSent !== arrives)
      wrong.push(`${target} (${status}) arrives ${asSent} times`);
  }
  const judged = new Map(
    bench
      .logLines()
      .filter((line) => 'forward_auth' in line && line.status === 200)
      .map((line) => [line.request_id, line]),
  );
  for (const { target, values } of seen) {
    const line = judged.get(values('x-request-id')[0]);
    const [path = ''] = target.split('?', 1);
    if (line?.path !== path) wrong.push(`${target} was not judged`);
    else wrong.push(...readElsewhere(path, String(line.route), places));
  }
  t.strictSame(wrong.slice(0, 20), [], `${wrong.length} are wrong`);
  t.ok(seen.length > 20, `${seen.length} of ${targets.length} were forwarded`);
}

/** Readings of a path by which it falls to a more specific place than the route that judged it. */
function readElsewhere(path: string, route: string, places: readonly string[]): string[] {
  const { isRefused, paths } = readNaively(path);
  if (isRefused) return [`${path} is not to be read`];
  const closer = [...paths].filter((reading) => weightOf(routeNaively(places, reading)!) > weightOf(route));
  return closer.map((reading) => `${path} is read as ${reading}`);
}
