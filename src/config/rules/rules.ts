import type { Finding, Path } from '../report/problems.ts';
import { formatDuration } from '../values/durations-and-sizes.ts';
import { assertionRules } from './assertion-rules.ts';
import { cookieRules } from './cookie-rules.ts';
import { identityHeaderRules } from './identity-header-rules.ts';
import { managedRules } from './managed-rules.ts';
import { ownAddressRules } from './own-address-rules.ts';
import { routeRules } from './route-rules.ts';
import { applyRules, type JudgedConfig, type Rule } from './rule.ts';
import { scopeRules } from './scope-rules.ts';
import { storeRules } from './store-rules.ts';
import { tlsRules } from './tls-rules.ts';
import { webRules } from './web-rules.ts';

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

/** True if two listeners have the same fixed port; with port 0 each gets a free one. */
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

const rules: readonly Rule[] = [
  hstsNeedsHttps,
  listenersDiffer,
  memoryForEachLane,
  ...storeRules,
  ...tlsRules,
  publishedInTime,
  ...cookieRules,
  ...scopeRules,
  ...managedRules,
  ...routeRules,
  ...ownAddressRules,
  someoneTakesTheResponse,
  ...identityHeaderRules,
  ...assertionRules,
  ...webRules,
];

/** Applies every rule that spans keys to the valid parts of a configuration; `written` is its source. */
export function findingsOfRules(config: JudgedConfig, written: unknown): Finding[] {
  return applyRules(rules, config, written);
}
