import type { Finding, Path } from '../report/problems.ts';
import { assertionRules } from './assertion-rules.ts';
import { cookieRules } from './cookie-rules.ts';
import { identityHeaderRules } from './identity-header-rules.ts';
import { managedRules } from './managed-rules.ts';
import { ownAddressRules } from './own-address-rules.ts';
import { providerRules } from './provider-rules.ts';
import { routeRules } from './route-rules.ts';
import { applyRules, type JudgedConfig, type Rule } from './rule.ts';
import { scopeRules } from './scope-rules.ts';
import { signingKeyRules } from './signing-key-rules.ts';
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

/** With port 0, each listener gets a free one. */
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

// Browsers that had reached it by https once would not reach it at base_url any more.
const hstsNeedsHttps: Rule = ({ listen, base_url: baseUrl }, { report }) => {
  if (listen?.hsts && baseUrl !== undefined && !baseUrl.startsWith('https:'))
    report(['listen', 'hsts'], 'requires an https base_url');
};

const rules: readonly Rule[] = [
  hstsNeedsHttps,
  listenersDiffer,
  memoryForEachLane,
  ...storeRules,
  ...tlsRules,
  ...signingKeyRules,
  ...cookieRules,
  ...scopeRules,
  ...managedRules,
  ...routeRules,
  ...ownAddressRules,
  ...providerRules,
  ...identityHeaderRules,
  ...assertionRules,
  ...webRules,
];

/** Applies every rule that spans keys to the valid parts of a configuration; `written` is its source. */
export function findingsOfRules(config: JudgedConfig, written: unknown): Finding[] {
  return applyRules(rules, config, written);
}
