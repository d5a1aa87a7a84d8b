import { normalize } from 'node:path';
import { folded, readPath } from '../../rules/lax-path.ts';
import { areaOf } from '../../rules/own-areas.ts';
import { keyOf } from '../report/problems.ts';
import { exactModes } from '../sections/forward-auth.ts';
import type { UpstreamAddress } from '../values/upstream-address.ts';
import { hostOfRoute, type JudgedConfig, type Rule, type RuleContext } from './rule.ts';

const kinds = ['prefix', 'exact'] as const;

// Anything else would never be at the beginning of a path that the route gets.
const strippedPrefixesBegin: Rule = ({ routes = [] }, { report }) => {
  for (const [index, route] of routes.entries()) {
    const [stripped, path] = [route?.strip_prefix, route?.prefix ?? route?.exact];
    if (stripped === undefined || path === undefined) continue;
    if (!isBeginning(stripped, path))
      report(['routes', index, 'strip_prefix'], `must be the route's path, ${path}, or its first segments`);
  }
};

const isBeginning = (stripped: string, path: string) =>
  stripped !== '/' && areaOf(path, [stripped]) !== undefined;

/** The paths that a route gets, and those that it sends. */
interface SentPaths {
  readonly index: number;
  readonly kind: (typeof kinds)[number];
  /** The host of the route; empty: every host that no entry names. */
  readonly host: string;
  /** Address of the server, however it is written. */
  readonly server: string;
  readonly path: string;
  readonly stripped: string;
  readonly base: string;
  /** The path that it sends, and with a prefix all below it; no slash at its end. */
  readonly sent: string;
}

/** Rejects a path of a server that two routes reach by different paths: the laxer route would open what the other one guards. */
const serversAreReachedAlike: Rule = (config, context) => {
  const all = sentPathsOf(config, context);
  for (const [at, later] of all.entries()) {
    const earlier = all
      .slice(0, at)
      .find(
        (other) =>
          other.host === later.host &&
          other.server === later.server &&
          (other.stripped !== later.stripped || other.base !== later.base) &&
          (covers(other, later, config) || covers(later, other, config)),
      );
    if (earlier !== undefined) reportPair(later, earlier, context);
  }
};

function sentPathsOf(config: JudgedConfig, context: RuleContext): readonly SentPaths[] {
  const { routes = [], upstreams = {} } = config;
  return routes.flatMap((route, index): readonly SentPaths[] => {
    const host = hostOfRoute(config, index, context);
    const kind = kinds.find((each) => route?.[each] !== undefined);
    const url = upstreams[route?.upstream ?? '']?.url;
    const server = url === undefined ? undefined : serverOf(url);
    if (host === undefined || kind === undefined || url === undefined || server === undefined) return [];
    const path = withoutSlash(route![kind]!);
    const stripped = route!.strip_prefix ?? '';
    // Reported by itself.
    if (stripped !== '' && !isBeginning(stripped, path)) return [];
    const base = url.kind === 'server' ? url.basePath : '';
    return [{ index, kind, host, server, path, stripped, base, sent: base + path.slice(stripped.length) }];
  });
}

/** The server at an address; undefined for the built-in echo, which guards nothing. */
function serverOf(url: UpstreamAddress): string | undefined {
  switch (url.kind) {
    case 'server': {
      const host = url.host.toLowerCase().replace(/\.$/, '');
      return `${host === 'localhost' ? '127.0.0.1' : host} ${url.port}`;
    }
    case 'socket':
      return normalize(url.path);
    case 'echo':
      return undefined;
  }
}

/** True if a server may find what `inner` sends below, or at, what `outer` sends. */
function covers(outer: SentPaths, inner: SentPaths, config: JudgedConfig): boolean {
  const roots = readPath(outer.sent).paths;
  const isInside = readPath(inner.sent).paths.some((path) =>
    outer.kind === 'exact' ? roots.includes(path) : areaOf(path, roots) !== undefined,
  );
  return isInside && !isTakenFrom(outer, inner, config);
}

/** True if `outer` never gets the paths by which it would send those of `inner`: a more specific route has them. */
function isTakenFrom(outer: SentPaths, inner: SentPaths, { routes = [] }: JudgedConfig): boolean {
  if (outer.kind === 'exact' || !inner.sent.startsWith(outer.base)) return false;
  const asked = folded(outer.stripped + inner.sent.slice(outer.base.length));
  return routes.some((route) => {
    const prefix = route?.prefix;
    return (
      prefix !== undefined &&
      (route?.host ?? '') === outer.host &&
      withoutSlash(prefix).length > outer.path.length &&
      areaOf(asked, [folded(prefix)]) !== undefined
    );
  });
}

function reportPair(later: SentPaths, earlier: SentPaths, { report, isWritten }: RuleContext): void {
  const written = [later, earlier].find(({ index }) => isWritten(['routes', index, 'strip_prefix']));
  const [at, other] = written === earlier ? [earlier, later] : [later, earlier];
  report(
    ['routes', at.index, written === undefined ? at.kind : 'strip_prefix'],
    `reaches by another path what ${keyOf(['routes', other.index, other.kind])} reaches on the same server, and one would open what the other guards: strip and prepend the same for both, or separate their paths there`,
  );
}

function withoutSlash(path: string): string {
  return path === '/' ? '' : path;
}

const oddSpellings = ['encoded_delimiters', 'encoded_percent', 'encoded_backslashes'] as const;

// Another proxy could forward another path than the one that was judged.
const proxiesKeepOddSpellings: Rule = ({ routes = [], paths, forward_auth: listeners = [] }, { report }) => {
  const index = listeners.findIndex(
    (listener) => listener?.mode !== undefined && !exactModes.has(listener.mode),
  );
  if (index < 0) return;
  const rule = `can't be pass while ${listeners[index]!.mode} asks for decisions (${keyOf(['forward_auth', index])}): it is not shown to forward such paths byte for byte`;
  for (const key of oddSpellings) {
    if (paths?.[key] === 'pass') report(['paths', key], rule);
    for (const [at, route] of routes.entries())
      if (route?.paths?.[key] === 'pass') report(['routes', at, 'paths', key], rule);
  }
};

/** Rules about paths that are sent to an upstream, by Postern or another proxy, differently from how they came. */
export const prefixRules: readonly Rule[] = [
  strippedPrefixesBegin,
  serversAreReachedAlike,
  proxiesKeepOddSpellings,
];
