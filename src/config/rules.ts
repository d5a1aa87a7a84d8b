import { cookieRules } from './cookie-rules.ts';
import { parseSize } from './durations-and-sizes.ts';
import { identityHeaderRules } from './identity-header-rules.ts';
import { lookUp } from './issues.ts';
import type { Finding } from './problems.ts';
import { routeRules } from './route-rules.ts';
import { type Rule, valueOr, type WrittenConfig } from './rule.ts';
import { scopeRules } from './scope-rules.ts';
import { storeRules } from './store-rules.ts';
import { tlsRules } from './tls-rules.ts';

const listenersDiffer: Rule = ({ listen, management }, report) => {
  const port = valueOr(listen, 'port', 8080);
  const hosts = [valueOr(listen, 'host', '0.0.0.0'), valueOr(management, 'host', '127.0.0.1')];
  const overlap = hosts[0] === hosts[1] || hosts.includes('0.0.0.0') || hosts.includes('::');
  if (hosts.includes(undefined) || !overlap || !port || valueOr(management, 'port', 9090) !== port) return;
  report(
    [management?.port === undefined ? 'listen' : 'management', 'port'],
    'is the port of the other listener',
  );
};

// RFC 9106 §3.1: argon2 refuses less than 8 KiB for each lane.
const memoryForEachLane: Rule = ({ passwords }, report) => {
  const memory = valueOr(passwords, 'memory', '19MiB');
  const lanes = valueOr(passwords, 'parallelism', 1);
  if (memory === undefined || lanes === undefined) return;
  if ((typeof memory === 'number' ? memory : parseSize(memory)) >= lanes * 8192) return;
  const key = passwords?.memory === undefined ? 'parallelism' : 'memory';
  report(['passwords', key], 'memory must be at least 8KiB for each of parallelism');
};

const rules: readonly Rule[] = [
  listenersDiffer,
  memoryForEachLane,
  ...storeRules,
  ...tlsRules,
  ...cookieRules,
  ...scopeRules,
  ...routeRules,
  ...identityHeaderRules,
];

/** Applies every rule that spans keys to what is left of a configuration, see {@link withoutBroken}. */
export function findingsOfRules(config: WrittenConfig): Finding[] {
  const findings: Finding[] = [];
  for (const rule of rules) rule(config, (path, text, at) => findings.push({ path, rule: text, at }));
  return findings;
}

/** What is left of a configuration without what is `broken` already: those values are there, and undefined. */
export function withoutBroken(written: unknown, broken: readonly Finding[]): WrittenConfig {
  const copy = structuredClone(written);
  for (const { path, at, offset, meant } of broken) {
    const last = path.at(-1);
    // A misspelt key counts as the one that was meant, with a broken value: nothing else is wrong for that.
    const map = meant && (lookUp(copy, path.slice(0, -1)) as Record<string, unknown> | undefined);
    if (map) map[meant] = undefined;
    // What stands under a bad name stays (whatever refers to it is not wrong for that), and so does the first of two.
    if (last === undefined || at === 'key' || offset !== undefined) continue;
    const parent = lookUp(copy, path.slice(0, -1)) as Record<string | number, unknown> | undefined;
    if (parent && Object.hasOwn(parent, last)) parent[last] = undefined;
  }
  return copy as WrittenConfig;
}
