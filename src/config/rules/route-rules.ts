import { decodedLength, readPath } from '../../rules/lax-path.ts';
import { suggestionOrNames } from '../../rules/nearest-name.ts';
import { createMayBeRead, defaultApiPath, type OptionalEndpoint, ownAreas } from '../../rules/own-areas.ts';
import { keyOf } from '../report/problems.ts';
import { noUpstream } from '../sections/routes.ts';
import { passedBy } from '../values/passed-by.ts';
import { problemOfRoutePath } from '../values/route-path.ts';
import { hostOfRoute, type Rule } from './rule.ts';

const kinds = ['prefix', 'exact'] as const;

const eachHasOnePath: Rule = ({ routes = [] }, { report, isWritten }) => {
  for (const [index, route] of routes.entries()) {
    if (!route) continue;
    const written = kinds.filter((kind) => isWritten(['routes', index, kind]));
    if (written.length > 1) report(['routes', index, 'exact'], "can't be combined with prefix", 'key');
    if (written.length === 0) report(['routes', index], 'must have prefix or exact');
  }
};

const pathsAreUnambiguous: Rule = ({ routes = [], paths }, { report, isWritten }) => {
  for (const [index, route] of routes.entries()) {
    const passed = passedBy((key) => {
      const isOwn = isWritten(['routes', index, 'paths', key]);
      // With a broken switch the laxer reading is assumed, so that a valid path isn't reported.
      return (isOwn ? route?.paths?.[key] : paths?.[key]) !== 'refuse';
    });
    for (const kind of kinds) {
      const path = route?.[kind];
      const problem = path === undefined ? undefined : problemOfRoutePath(path, passed);
      if (problem !== undefined) report(['routes', index, kind], problem);
    }
  }
};

const pathsDiffer: Rule = (config, context) => {
  const firstOf = new Map<string, string>();
  for (const [index, route] of (config.routes ?? []).entries())
    for (const kind of kinds) {
      const [host, path] = [hostOfRoute(config, index, context), route?.[kind]];
      if (host === undefined || path === undefined) continue;
      const name = `${kind} ${host}${path}`;
      const first = firstOf.get(name);
      if (first === undefined) firstOf.set(name, keyOf(['routes', index, kind]));
      else context.report(['routes', index, kind], `duplicates ${first}`);
    }
};

const upstreamsAreThere: Rule = ({ routes = [], upstreams }, { report }) => {
  if (upstreams === undefined) return;
  for (const [index, route] of routes.entries())
    if (
      route?.upstream !== undefined &&
      route.upstream !== noUpstream &&
      !Object.hasOwn(upstreams, route.upstream)
    )
      report(
        ['routes', index, 'upstream'],
        `must be the name of an upstream${suggestionOrNames(route.upstream, Object.keys(upstreams))}`,
      );
};

const forwardingKeys = [
  'strip_prefix',
  'max_body',
  'body_rate',
  'upgrades',
  'connect_timeout',
  'response_timeout',
  'idle_timeout',
] as const;

// A limit without effect would suggest a protection that isn't there.
const decidedRoutesForwardNothing: Rule = ({ routes = [], upstreams = {} }, { report, isWritten }) => {
  if (Object.hasOwn(upstreams, noUpstream))
    report(['upstreams', noUpstream], 'is the word for no upstream: choose another name', 'key');
  for (const [index, route] of routes.entries())
    if (route?.upstream === noUpstream)
      for (const key of forwardingKeys)
        if (isWritten(['routes', index, key]))
          report(['routes', index, key], "can't be combined with upstream: none", 'key');
};

// The two contradict each other, and a wrong guess would open the route.
const publicStandsAlone: Rule = ({ routes = [] }, { report, isWritten }) => {
  for (const [index, route] of routes.entries()) {
    if (route?.public !== true) continue;
    for (const key of ['scopes', 'accept'] as const)
      if (isWritten(['routes', index, key]))
        report(['routes', index, key], "can't be combined with public: true", 'key');
  }
};

// A route that no request can reach looks like a rule and protects nothing.
const outsideOfOwnAreas: Rule = (config, context) => {
  const { routes = [], api_path: apiPath, endpoints, web } = config;
  if (apiPath === undefined) return;
  // A broken entry counts as `upstream`, so that a valid route isn't reported.
  const isUpstreams = (name: OptionalEndpoint) => endpoints?.[name] !== 'own' && endpoints?.[name] !== 'off';
  const areas = ownAreas(isUpstreams, { apiPath, webPath: web?.path });
  const tests = areas.map((area) => ({ area, mayBeRead: createMayBeRead([area]) }));
  // On a named host, the API is not served.
  const ofNamedHosts = tests.filter(({ area }) => area === web?.path);
  for (const [index, route] of routes.entries()) {
    const host = hostOfRoute(config, index, context);
    if (host === undefined) continue;
    for (const kind of kinds) {
      const path = route?.[kind] ?? '/';
      const area = (host === '' ? tests : ofNamedHosts).find(({ mayBeRead }) => mayBeRead(path))?.area;
      if (area !== undefined)
        context.report(['routes', index, kind], `is in ${area}, which Postern serves itself`);
    }
  }
};

// The upstream of such an endpoint would never get a request.
const selfLeavesNothing: Rule = ({ api_path: apiPath, endpoints }, { report }) => {
  if (endpoints?.self !== 'own' && endpoints?.self !== 'off') return;
  // Elsewhere nothing of the API is an upstream's, and /api is.
  if (apiPath !== defaultApiPath) return;
  for (const name of ['self_sessions', 'self_password'] as const)
    if (endpoints[name] === 'upstream')
      report(
        ['endpoints', name],
        `must not be upstream while endpoints.self is ${endpoints.self}: it is in /api/self`,
      );
};

// Without the sign-in page, or on a route for API keys only, the web cookie could never be presented.
const browserRoutesHaveSessions: Rule = ({ routes = [], web }, { report, isWritten }) => {
  for (const [index, route] of routes.entries()) {
    if (route?.browser !== true) continue;
    if (web === undefined && !isWritten(['web'])) report(['routes', index, 'browser'], 'requires web', 'key');
    if (route.accept?.includes('session') === false)
      report(['routes', index, 'browser'], 'requires session in accept', 'key');
  }
};

// A request is refused if an upstream may read its path as that of a closer route; on a route reported here, that is every
// request.
const closerReadingsLeaveSome: Rule = (config, context) => {
  const { routes = [] } = config;
  const hosts = routes.map((_, index) => hostOfRoute(config, index, context));
  for (const kind of kinds) {
    const readings = routes.map((route) => {
      const path = route?.[kind];
      return path === undefined ? [] : readPath(path).paths;
    });
    for (const [index, own] of readings.entries()) {
      const shortest = Math.min(...own.map(decodedLength));
      const closer = readings.findIndex(
        (others, other) =>
          other !== index &&
          hosts[index] !== undefined &&
          hosts[other] === hosts[index] &&
          others.some((path) => decodedLength(path) > shortest && own.includes(path)),
      );
      if (closer >= 0)
        context.report(
          ['routes', index, kind],
          `never matches: servers may read it as ${keyOf(['routes', closer, kind])}, which is closer`,
        );
    }
  }
};

// A program would be asked for a password that is never accepted.
const challengesAreAccepted: Rule = ({ routes = [], api_keys: keys }, { report }) => {
  if (keys?.basic !== false) return;
  for (const [index, route] of routes.entries())
    if (route?.challenge === 'basic' || route?.challenge === 'both')
      report(['routes', index, 'challenge'], 'requires api_keys.basic: true');
};

// With origins configured, Postern responds to every preflight itself.
const preflightsHaveOneOwner: Rule = ({ routes = [], cors }, { report }) => {
  if (!cors?.origins?.length) return;
  for (const [index, route] of routes.entries())
    if (route?.preflight !== undefined)
      report(['routes', index, 'preflight'], "can't be combined with cors.origins", 'key');
};

// The one includes the other, which the reader of both may doubt.
const corsHasOneKey: Rule = ({ routes = [] }, { report, isWritten }) => {
  for (const [index, route] of routes.entries())
    if (route?.cors !== undefined && isWritten(['routes', index, 'preflight']))
      report(
        ['routes', index, 'preflight'],
        "can't be combined with cors: upstream, which includes it",
        'key',
      );
};

/** Rules that span several routes, or routes and the rest of the configuration. */
export const routeRules: readonly Rule[] = [
  eachHasOnePath,
  pathsAreUnambiguous,
  pathsDiffer,
  upstreamsAreThere,
  decidedRoutesForwardNothing,
  publicStandsAlone,
  outsideOfOwnAreas,
  selfLeavesNothing,
  browserRoutesHaveSessions,
  closerReadingsLeaveSome,
  challengesAreAccepted,
  preflightsHaveOneOwner,
  corsHasOneKey,
];
