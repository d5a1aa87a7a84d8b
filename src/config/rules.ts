import { cookieRules } from './cookie-rules.ts';
import { identityHeaderRules } from './identity-header-rules.ts';
import { managedRules } from './managed-rules.ts';
import type { Finding } from './problems.ts';
import { providerRules } from './provider-rules.ts';
import { routeRules } from './route-rules.ts';
import { applyRules, type JudgedConfig, type Rule } from './rule.ts';
import { scopeRules } from './scope-rules.ts';
import { signingKeyRules } from './signing-key-rules.ts';
import { storeRules } from './store-rules.ts';
import { tlsRules } from './tls-rules.ts';
import { webRules } from './web-rules.ts';

const anyAddress = ['0.0.0.0', '::'];

const listenersDiffer: Rule = ({ listen, management }, { report, isWritten }) => {
  const port = listen?.port;
  const hosts = [listen?.host, management?.host];
  const overlap = hosts[0] === hosts[1] || anyAddress.some((address) => hosts.includes(address));
  // With port 0, each listener gets a free one.
  if (hosts.includes(undefined) || !overlap || !port || management?.port !== port) return;
  const listener = isWritten(['management', 'port']) ? 'management' : 'listen';
  report([listener, 'port'], 'is the port of the other listener');
};

// RFC 9106 §3.1: argon2 refuses less than 8 KiB per lane.
const bytesForEachLane = 8 * 1024;

const memoryForEachLane: Rule = ({ passwords }, { report, isWritten }) => {
  const { memory, parallelism } = passwords ?? {};
  if (memory === undefined || parallelism === undefined || memory >= parallelism * bytesForEachLane) return;
  const key = isWritten(['passwords', 'memory']) ? 'memory' : 'parallelism';
  report(['passwords', key], 'memory must be at least 8KiB per lane (parallelism)');
};

const rules: readonly Rule[] = [
  listenersDiffer,
  memoryForEachLane,
  ...storeRules,
  ...tlsRules,
  ...signingKeyRules,
  ...cookieRules,
  ...scopeRules,
  ...managedRules,
  ...routeRules,
  ...providerRules,
  ...identityHeaderRules,
  ...webRules,
];

/** Applies every rule that spans keys to the valid parts of a configuration; `written` is its source. */
export function findingsOfRules(config: JudgedConfig, written: unknown): Finding[] {
  return applyRules(rules, config, written);
}
