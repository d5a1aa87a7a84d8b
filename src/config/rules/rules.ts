import { isIP } from 'node:net';
import type { Finding, Path } from '../report/problems.ts';
import { formatDuration } from '../values/durations-and-sizes.ts';
import { apiPathRules } from './api-path-rules.ts';
import { assertionRules } from './assertion-rules.ts';
import { headerRules } from './header-rules.ts';
import { hostRules } from './host-rules.ts';
import { managedRules } from './managed-rules.ts';
import { upstreamsAreOthers } from './own-address-rules.ts';
import { prefixRules } from './prefix-rules.ts';
import { routeRules } from './route-rules.ts';
import { applyRules, type JudgedConfig, type Rule } from './rule.ts';
import { scopeRules } from './scope-rules.ts';
import { storeRules } from './store-rules.ts';
import { tlsRules } from './tls-rules.ts';

const anyAddress = ['0.0.0.0', '::'];

const listenersDiffer: Rule = ({ listen, management, forward_auth = [] }, { report, isWritten }) => {
  const listeners: [Path, Listener][] = [
    [['listen'], listen],
    [['management'], management],
    ...forward_auth.map((each, index): [Path, Listener] => [['forward_auth', index], each]),
  ];
  for (const [index, [path, later]] of listeners.entries())
    for (const [earlierPath, earlier] of listeners.slice(0, index)) {
      if (!sharePort(earlier, later)) continue;
      const isWrittenHere = isWritten([...path, 'port']) || !isWritten([...earlierPath, 'port']);
      report([...(isWrittenHere ? path : earlierPath), 'port'], 'is the port of the other listener');
      break;
    }
};

type Listener = { readonly host?: string | undefined; readonly port?: number | undefined } | undefined;

/** True if two listeners would bind the same port of a common address; with port 0, each gets a free port. */
function sharePort(one: Listener, other: Listener): boolean {
  const hosts = [one?.host, other?.host];
  const overlap = hosts[0] === hosts[1] || anyAddress.some((address) => hosts.includes(address));
  return !hosts.includes(undefined) && overlap && Boolean(one?.port) && one?.port === other?.port;
}

// RFC 9106 §3.1: argon2 refuses less than 8 KiB per lane.
const bytesForEachLane = 8 * 1024;

const memoryForEachLane: Rule = ({ passwords }, { report, isWritten }) => {
  const { memory, parallelism } = passwords ?? {};
  if (memory === undefined || parallelism === undefined || memory >= parallelism * bytesForEachLane) return;
  const key = isWritten(['passwords', 'memory']) ? 'memory' : 'parallelism';
  report(['passwords', key], 'memory must be at least 8KiB per lane (parallelism)');
};

// A browser that had once used https could no longer reach an http base_url.
const hstsNeedsHttps: Rule = ({ listen, base_url: baseUrl }, { report }) => {
  if (listen?.hsts && baseUrl !== undefined && !baseUrl.startsWith('https:'))
    report(['listen', 'hsts'], 'requires an https base_url');
};

/** Rejects a rotation shorter than `publish_ahead`: a key would have to be published before its predecessor. */
const publishedInTime: Rule = ({ signing_keys: keys }, { report, isWritten }) => {
  const { rotate_every: every, publish_ahead: ahead } = keys ?? {};
  if (every === undefined || every === null || ahead === undefined || ahead <= every) return;
  if (isWritten(['signing_keys', 'publish_ahead']))
    report(
      ['signing_keys', 'publish_ahead'],
      `must be at most signing_keys.rotate_every, ${formatDuration(every)}`,
    );
  else
    report(
      ['signing_keys', 'rotate_every'],
      `must be at least signing_keys.publish_ahead, ${formatDuration(ahead)}`,
    );
};

// Without Postern's own pages, only a page of the front end can receive a provider's response.
const someoneTakesTheResponse: Rule = (
  { identity_providers: providers = {}, web },
  { report, isWritten },
) => {
  if (web !== undefined || isWritten(['web'])) return;
  for (const [name, provider] of Object.entries(providers)) {
    if (!isWritten(['identity_providers', name, 'redirect_uri']))
      report(['identity_providers', name, 'redirect_uri'], 'is required', 'key');
    if (provider?.end_session === true)
      report(['identity_providers', name, 'end_session'], 'requires web', 'key');
  }
};

/** True if the cookie will be Secure; undefined if the deciding setting is broken. */
function isSecure({ base_url, sessions }: JudgedConfig): boolean | undefined {
  const secure = sessions?.cookie?.secure;
  return secure === 'auto' ? base_url?.startsWith('https:') : secure;
}

// draft-ietf-httpbis-rfc6265bis §5.7: browsers drop such cookies, so no user would stay signed in.
const secureWhereBrowsersWantIt: Rule = (config, { report }) => {
  const cookie = config.sessions?.cookie;
  if (!cookie || isSecure(config) !== false) return;
  const needs = 'requires a Secure cookie: an https base_url or secure: true';
  if (cookie.same_site === 'none') report(['sessions', 'cookie', 'same_site'], needs);
  if (/^__(?:host|secure)-/i.test(cookie.name ?? '')) report(['sessions', 'cookie', 'name'], needs);
};

// draft-ietf-httpbis-rfc6265bis §4.1.3.2
const hostPrefix: Rule = ({ sessions }, { report, isWritten }) => {
  const cookie = sessions?.cookie;
  if (!cookie || !/^__host-/i.test(cookie.name ?? '')) return;
  if ((cookie.path ?? '/') !== '/') report(['sessions', 'cookie', 'name'], 'requires path: /');
  if (isWritten(['sessions', 'cookie', 'domain']))
    report(['sessions', 'cookie', 'domain'], "can't be combined with a __Host- name");
};

const domainCoversHost: Rule = ({ base_url, sessions }, { report }) => {
  const domain = sessions?.cookie?.domain?.toLowerCase();
  if (domain === undefined || base_url === undefined) return;
  const { hostname } = new URL(base_url);
  const covers = hostname === domain || (hostname.endsWith(`.${domain}`) && !isIP(hostname));
  if (!covers) report(['sessions', 'cookie', 'domain'], 'must be the host of base_url or a domain above it');
};

const consoleRequiresAProvider: Rule = ({ identity_providers: providers = {}, web }, { report }) => {
  const required = web?.console?.require;
  if (required !== undefined && !Object.hasOwn(providers, required))
    report(['web', 'console', 'require'], 'must be one of identity_providers');
};

/** Rejects a cookie domain if the console has a `base_url`: services in it would receive the console's refresh cookie, too. */
const consoleKeepsItsCookie: Rule = ({ web }, { report, isWritten }) => {
  if (web?.console?.base_url !== undefined && isWritten(['sessions', 'cookie', 'domain']))
    report(['sessions', 'cookie', 'domain'], "can't be combined with web.console.base_url");
};

const rules: readonly Rule[] = [
  hstsNeedsHttps,
  listenersDiffer,
  memoryForEachLane,
  ...storeRules,
  ...tlsRules,
  publishedInTime,
  secureWhereBrowsersWantIt,
  hostPrefix,
  domainCoversHost,
  ...apiPathRules,
  ...scopeRules,
  ...managedRules,
  ...routeRules,
  ...hostRules,
  ...prefixRules,
  upstreamsAreOthers,
  someoneTakesTheResponse,
  ...headerRules,
  ...assertionRules,
  consoleRequiresAProvider,
  consoleKeepsItsCookie,
];

/** Applies every rule that spans keys to the valid parts of a configuration; `written` is its source. */
export function findingsOfRules(config: JudgedConfig, written: unknown): Finding[] {
  return applyRules(rules, config, written);
}
