import { nameOfOrigin, portOfOrigin } from '../../rules/name-of-origin.ts';
import { suggestionOrNames } from '../../rules/nearest-name.ts';
import { keyOf, type Path } from '../report/problems.ts';
import { isLoopbackHost } from '../values/addresses.ts';
import type { JudgedConfig, Rule } from './rule.ts';

// Only the sign-in page leads people to them.
const hostsHavePages: Rule = ({ hosts, web }, { report, isWritten }) => {
  if (hosts !== undefined && web === undefined && !isWritten(['web']))
    report(['hosts'], 'requires web', 'key');
};

/** Every valid entry of `hosts`, with its path. */
function* entriesOf({ hosts = [] }: JudgedConfig) {
  for (const [index, origin] of hosts.entries())
    if (origin !== undefined) yield { path: ['hosts', index] as Path, origin, name: nameOfOrigin(origin) };
}

// The Secure cookies of one scheme are worth nothing on the other.
const entriesHaveOneScheme: Rule = (config, { report }) => {
  const scheme = /^https?:/.exec(config.base_url ?? '')?.[0];
  if (scheme === undefined) return;
  for (const { path, origin } of entriesOf(config))
    if (!origin.startsWith(scheme)) report(path, `must be ${scheme}//, as base_url is`);
};

// RFC 6265 §8.5: cookies know no ports, so that the cookie of the one would be the other's.
const namesDiffer: Rule = (config, { report }) => {
  const { base_url: baseUrl, web } = config;
  const firstOf = new Map<string, { readonly path: Path; readonly origin: string }>();
  const own: readonly [string | undefined, Path][] = [
    [web?.console?.base_url, ['web', 'console', 'base_url']],
    [baseUrl, ['base_url']],
  ];
  for (const [origin, path] of own)
    if (origin !== undefined) firstOf.set(nameOfOrigin(origin), { path, origin });
  for (const { path, origin, name } of entriesOf(config)) {
    const first = firstOf.get(name);
    if (first === undefined) firstOf.set(name, { path, origin });
    else if (first.origin === origin) report(path, `is ${keyOf(first.path)} already: remove it`);
    else report(path, `has the name of ${keyOf(first.path)}, and cookies know no ports: use another name`);
  }
};

// Fetch Metadata §2: a foreign page could use the cookies of whoever opens it.
const untold = "over http, browsers don't say which page makes a request";

const httpIsOfThisMachine: Rule = (config, { report }) => {
  const { base_url: baseUrl, hosts } = config;
  if (hosts === undefined) return;
  const isExposed = (origin: string) => origin.startsWith('http:') && !isLoopbackHost(nameOfOrigin(origin));
  if (baseUrl !== undefined && isExposed(baseUrl))
    report(['base_url'], `must be https:// while there are hosts, unless on loopback: ${untold}`);
  for (const { path, origin } of entriesOf(config))
    if (isExposed(origin)) report(path, `must be https:// unless on loopback: ${untold}`);
};

const routesNameEntries: Rule = (config, { report, isWritten }) => {
  const { routes = [], hosts, base_url: baseUrl, web } = config;
  // A broken entry may be the one that is meant.
  if (hosts === undefined ? isWritten(['hosts']) : hosts.includes(undefined)) return;
  const names = (hosts ?? []).map((origin) => nameOfOrigin(origin!));
  const isNameOf = (origin: string | undefined, host: string) =>
    origin !== undefined && nameOfOrigin(origin) === host;
  for (const [index, route] of routes.entries()) {
    const host = route?.host;
    if (host === undefined || names.includes(host)) continue;
    const path = ['routes', index, 'host'];
    if (isNameOf(baseUrl, host))
      report(path, 'is the name of base_url, whose routes are those without host: leave it out');
    else if (isNameOf(web?.console?.base_url, host))
      report(path, 'is the name of web.console.base_url, at which there is nothing but the console');
    else if (hosts === undefined) report(path, 'requires hosts', 'key');
    else report(path, `must be the name in an entry of hosts${suggestionOrNames(nameOfOrigin(host), names)}`);
  }
};

const decisionsForBrowsers: Rule = ({ forward_auth: listeners = [], web }, { report, isWritten }) => {
  for (const [index, listener] of listeners.entries()) {
    if (listener?.browser !== true) continue;
    const path = ['forward_auth', index, 'browser'];
    if (web === undefined && !isWritten(['web'])) report(path, 'requires web', 'key');
    if (listener.mode === 'ingress_nginx')
      report(
        path,
        "can't be true for ingress_nginx, whose auth-signin makes a redirect of every 401, those of programs too",
      );
  }
};

/** Rules about the hosts that people enter with one sign-in. */
export const hostRules: readonly Rule[] = [
  hostsHavePages,
  entriesHaveOneScheme,
  namesDiffer,
  httpIsOfThisMachine,
  routesNameEntries,
  decisionsForBrowsers,
];

// All that people could do there is to sign in and out.
const entriesHaveRoutes: Rule = (config, { report }) => {
  const named = new Set((config.routes ?? []).map((route) => route?.host));
  for (const { path, name } of entriesOf(config))
    if (!named.has(name))
      report(
        path,
        `has no route: add host: ${quoted(name)} to the routes that are of this host, or remove it`,
      );
};

// A sign-in leads to the origin as it is written: without its port, to one where nothing listens.
const portsAreReached: Rule = (config, { report }) => {
  if (config.base_url === undefined) return;
  const wanted = portOfOrigin(config.base_url);
  for (const { path, origin } of entriesOf(config)) {
    const port = portOfOrigin(origin);
    if (port !== wanted)
      report(
        path,
        `leads people to port ${port} after a sign-in, and base_url has ${wanted}: name the port that they use`,
      );
  }
};

/** A name as YAML has it: a leading `*` would be an alias. */
function quoted(name: string): string {
  return name.startsWith('*') ? JSON.stringify(name) : name;
}

// Through such a proxy, people who aren't signed in get a 401 in JSON.
const listenersServeBrowsers: Rule = ({ forward_auth: listeners = [], hosts }, { report }) => {
  if (hosts === undefined) return;
  for (const [index, listener] of listeners.entries()) {
    if (listener === undefined || listener.browser === true) continue;
    const cure =
      listener.mode === 'ingress_nginx'
        ? "ingress_nginx can't have it: use another mode for people"
        : 'add it, and print the configuration of the proxy again, because one that was printed before there were hosts is 400';
    report(
      ['forward_auth', index],
      `has no browser: true, so its proxy leads no one to the sign-in of hosts: ${cure}`,
    );
  }
};

/** Warnings about the hosts that people enter with one sign-in. */
export const hostWarnings: readonly Rule[] = [entriesHaveRoutes, portsAreReached, listenersServeBrowsers];
