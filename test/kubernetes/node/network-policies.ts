import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Api } from './api.ts';
import { isSelected, rulesOf } from './policy-rules.ts';

const run = promisify(execFile);
const entrance = ['FORWARD', '-j', 'POLICIES'];

/**
 * Enforces NetworkPolicies by iptables. What the node itself sends to a pod is let through, as everywhere. It never blocks
 * this process, which answers for names, too.
 */
export function enforceNetworkPolicies(api: Api): void {
  let last = '';
  let isBusy = false;
  let isStale = false;
  async function enforce(): Promise<void> {
    isBusy = true;
    while (isStale) {
      isStale = false;
      // Changes come together.
      await sleep(50);
      const table = tableOf(policies.items(), pods.items(), namespaces.items());
      if (table === last) continue;
      try {
        await load(table);
        last = table;
      } catch (error) {
        process.stderr.write(`NetworkPolicies: ${error}\n`);
        isStale = true;
      }
    }
    isBusy = false;
  }
  const soon = () => {
    isStale = true;
    if (!isBusy) void enforce();
  };
  const policies = api.watch('/apis/networking.k8s.io/v1/networkpolicies', soon);
  const pods = api.watch('/api/v1/pods', soon);
  const namespaces = api.watch('/api/v1/namespaces', soon);
}

/** Waits for the lock on the table, which the proxy takes, too. */
async function load(table: string): Promise<void> {
  const restoring = run('iptables-restore', ['--wait', '--noflush']);
  restoring.child.stdin!.end(table);
  await restoring;
  const isHooked = await run('iptables', ['--wait', '-C', ...entrance]).then(
    () => true,
    () => false,
  );
  if (!isHooked) await run('iptables', ['--wait', '-I', ...entrance]);
}

/** A chain for each pod and direction that a policy is about, from which only what is admitted returns. */
function tableOf(policies: any[], pods: any[], namespaces: any[]): string {
  const labels = new Map<string, any>(
    namespaces.map(({ metadata }) => [metadata.name, metadata.labels ?? {}]),
  );
  const running = pods.filter(({ status }) => status?.podIP && /^(Pending|Running)$/.test(status.phase));
  const chains = new Map<string, string[]>();
  const entrances: string[] = [];
  for (const pod of running)
    for (const [direction, flag] of [
      ['Ingress', '-d'],
      ['Egress', '-s'],
    ] as const) {
      const about = policies.filter((policy) => isAbout(policy, pod, direction));
      if (about.length === 0) continue;
      const name = `P-${createHash('sha1')
        .update(direction + pod.metadata.uid)
        .digest('hex')
        .slice(0, 20)}`;
      const admitted = about.flatMap((policy) => rulesOf(policy, pod, direction, running, labels));
      chains.set(name, [...admitted.map((rule) => `${rule} -j RETURN`), '-j DROP']);
      entrances.push(`-A POLICIES ${flag} ${pod.status.podIP}/32 -j ${name}`);
    }
  return [
    '*filter',
    ':POLICIES - [0:0]',
    ...[...chains.keys()].map((name) => `:${name} - [0:0]`),
    '-A POLICIES -m conntrack --ctstate ESTABLISHED,RELATED -j RETURN',
    ...entrances,
    ...[...chains].flatMap(([name, rules]) => rules.map((rule) => `-A ${name} ${rule}`)),
    'COMMIT\n',
  ].join('\n');
}

function isAbout({ metadata, spec }: any, pod: any, direction: 'Ingress' | 'Egress'): boolean {
  const types: string[] = spec.policyTypes ?? ['Ingress'];
  return (
    metadata.namespace === pod.metadata.namespace &&
    types.includes(direction) &&
    isSelected(spec.podSelector ?? {}, pod.metadata.labels ?? {})
  );
}
