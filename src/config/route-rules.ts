import { laxReadings } from '../rules/lax-path.ts';
import { suggestion } from '../rules/nearest-name.ts';
import { areaOf, ownAreas } from '../rules/own-areas.ts';
import { keyOf } from './problems.ts';
import { problemOfRoutePath } from './route-path.ts';
import type { Rule } from './rule.ts';

const kinds = ['prefix', 'exact'] as const;

const eachHasOnePath: Rule = ({ routes = [] }, { report, isWritten }) => {
  for (const [index, route] of routes.entries()) {
    if (!route) continue;
    const written = kinds.filter((kind) => isWritten(['routes', index, kind]));
    if (written.length > 1) report(['routes', index, 'exact'], "can't be combined with prefix", 'key');
    if (written.length === 0) report(['routes', index], 'must have prefix or exact');
  }
};

const pathsAreUnambiguous: Rule = ({ routes = [], paths }, { report }) => {
  const tolerance = {
    // A broken switch says nothing about the paths: the laxer reading spares a problem that may be none.
    semicolons: paths?.semicolons !== 'refuse',
    encodedSlashes: paths?.encoded_slashes !== 'refuse',
  };
  for (const [index, route] of routes.entries())
    for (const kind of kinds) {
      const path = route?.[kind];
      const problem = path === undefined ? undefined : problemOfRoutePath(path, tolerance);
      if (problem !== undefined) report(['routes', index, kind], problem);
    }
};

const pathsDiffer: Rule = ({ routes = [] }, { report }) => {
  const firstOf = new Map<string, string>();
  for (const [index, route] of routes.entries())
    for (const kind of kinds) {
      const path = route?.[kind];
      if (path === undefined) continue;
      const name = `${kind} ${path}`;
      const first = firstOf.get(name);
      if (first === undefined) firstOf.set(name, keyOf(['routes', index, kind]));
      else report(['routes', index, kind], `duplicates ${first}`);
    }
};

const upstreamsAreThere: Rule = ({ routes = [], upstreams }, { report }) => {
  if (upstreams === undefined) return;
  for (const [index, route] of routes.entries())
    if (route?.upstream !== undefined && !Object.hasOwn(upstreams, route.upstream))
      report(
        ['routes', index, 'upstream'],
        `must be the name of an upstream${suggestion(route.upstream, Object.keys(upstreams))}`,
      );
};

// Whoever writes both means one of them, and guessing wrong would open the route.
const publicStandsAlone: Rule = ({ routes = [] }, { report, isWritten }) => {
  for (const [index, route] of routes.entries()) {
    if (route?.public !== true) continue;
    for (const key of ['scopes', 'accept'] as const)
      if (isWritten(['routes', index, key]))
        report(['routes', index, key], "can't be combined with public: true", 'key');
  }
};

// A route that no request can reach is a mistake that looks like a rule.
const outsideOfOwnAreas: Rule = ({ routes = [], endpoints }, { report }) => {
  // What is broken is taken for the upstream's: that spares a problem that may be none.
  const areas = ownAreas((name) => endpoints?.[name] !== 'own');
  for (const [index, route] of routes.entries())
    for (const kind of kinds) {
      const area = laxReadings(route?.[kind] ?? '/')
        .map((path) => areaOf(path, areas))
        .find((found) => found !== undefined);
      if (area !== undefined) report(['routes', index, kind], `is in ${area}, which Postern serves itself`);
    }
};

// The request path refuses what an upstream may read as a closer route: such a route refuses all there is of it.
const closerReadingsLeaveSome: Rule = ({ routes = [] }, { report }) => {
  for (const kind of kinds) {
    const readings = routes.map((route) => laxReadings(route?.[kind] ?? '').filter((path) => path !== ''));
    for (const [index, own] of readings.entries()) {
      const shortest = Math.min(...own.map((path) => path.length));
      const closer = readings.findIndex(
        (others, other) =>
          other !== index && others.some((path) => path.length > shortest && own.includes(path)),
      );
      if (closer >= 0)
        report(
          ['routes', index, kind],
          `never matches: servers may read it as ${keyOf(['routes', closer, kind])}, which is closer`,
        );
    }
  }
};

// With origins configured Postern answers every preflight itself.
const preflightsHaveOneOwner: Rule = ({ routes = [], cors }, { report }) => {
  if (!cors?.origins?.length) return;
  for (const [index, route] of routes.entries())
    if (route?.preflight !== undefined)
      report(['routes', index, 'preflight'], "can't be combined with cors.origins", 'key');
};

/** What routes must be beside each other and beside the rest. */
export const routeRules: readonly Rule[] = [
  eachHasOnePath,
  pathsAreUnambiguous,
  pathsDiffer,
  upstreamsAreThere,
  publicStandsAlone,
  outsideOfOwnAreas,
  closerReadingsLeaveSome,
  preflightsHaveOneOwner,
];
