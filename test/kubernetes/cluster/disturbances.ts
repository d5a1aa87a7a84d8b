import { eventually } from '../../support/eventually.ts';
import { nodeName } from '../node/addresses.ts';
import { apply, command, get, kubectl } from './commands.ts';
import { podsOf } from './namespace.ts';
import type { Release } from './release.ts';
import { redisPassword, storeSecret } from './stores.ts';

/** What happens to pods while clients go on asking; each resolves when as many are ready as before. */
export type Disturbance = (release: Release) => Promise<void>;

/** Everything that a cluster does to pods in its daily work. */
export const disturbances: Readonly<Record<string, Disturbance>> = {
  'another image': async (release) => {
    const { spec } = await get(...placeOf(release));
    const { containers, initContainers = [] } = spec.template.spec;
    const { image } = [...containers, ...initContainers].find(({ name }: any) => name === 'postern');
    const next = image.endsWith('-again') ? image.replace(/-again$/, '') : `${image}-again`;
    await kubectl('set', 'image', ...placeOf(release), `postern=${next}`);
    await rolledOut(release);
  },
  'a restart of the rollout': async (release) => {
    await kubectl('rollout', 'restart', ...placeOf(release));
    await rolledOut(release);
  },
  'a deleted pod': async (release) => {
    const name = await anyPod(release);
    await kubectl('delete', 'pod', name, ...inNamespace(release), '--wait=false');
    await replaced(release, name);
  },
  'an eviction': async (release) => {
    const name = await anyPod(release);
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name } };
    const path = `/api/v1/namespaces/${release.namespace}/pods/${name}/eviction`;
    await command('kubectl', ['create', '--raw', path, '--filename', '-'], JSON.stringify(eviction));
    await replaced(release, name);
  },
  'a drained node': async (release) => {
    // There is no other node, so the budget stops it after the first pod.
    const options = ['--ignore-daemonsets', '--delete-emptydir-data', '--timeout=20s'];
    const selector = `--pod-selector=${release.selector}`;
    const drained = await kubectl('drain', nodeName, ...options, selector).then(
      () => true,
      () => false,
    );
    await kubectl('uncordon', nodeName);
    if (drained) throw new Error('the budget has let every pod be evicted');
    await allReady(release);
  },
  SIGTERM: async (release) => {
    const name = await anyPod(release);
    const restarts = await restartsOf(release, name);
    const kill = ['postern', '--', 'node', '-e', 'process.kill(1)'];
    await kubectl('exec', name, ...inNamespace(release), '--container', ...kill);
    await eventually('it is restarted', async () => (await restartsOf(release, name)) > restarts, 120_000);
    await allReady(release);
  },
  'a changed Secret': async (release) => {
    // Its contents are the same, so everything goes on; the kubelet replaces the files.
    await apply(release.namespace, [storeSecret(redisPassword, `${Date.now()}`)]);
    await kubectl(
      'annotate',
      'pods',
      '--selector',
      release.selector,
      ...inNamespace(release),
      '--overwrite',
      `seen=${Date.now()}`,
    );
  },
};

function inNamespace({ namespace }: Release): string[] {
  return ['--namespace', namespace];
}

function placeOf(release: Release): string[] {
  return [release.workload, ...inNamespace(release)];
}

async function rolledOut(release: Release): Promise<void> {
  await kubectl('rollout', 'status', ...placeOf(release), '--timeout=300s');
  await eventually(
    'the old pods have ended',
    async () => (await countOf(release)) === (await replicasOf(release)),
    120_000,
  );
}

async function anyPod({ namespace, selector }: Release): Promise<string> {
  const [pod] = await podsOf(namespace, selector);
  return pod.metadata.name;
}

/** Waits until that pod is gone and another is ready in its place. */
async function replaced(release: Release, name: string): Promise<void> {
  await kubectl('wait', '--for=delete', `pod/${name}`, ...inNamespace(release), '--timeout=120s');
  await allReady(release);
}

async function allReady(release: Release): Promise<void> {
  await eventually(
    'all are ready',
    async () => {
      const { spec, status } = await get(...placeOf(release));
      return status.readyReplicas === spec.replicas && !status.unavailableReplicas;
    },
    180_000,
  );
}

async function replicasOf(release: Release): Promise<number> {
  return (await get(...placeOf(release))).spec.replicas;
}

/** Of the pods there are, those that are ending among them. */
async function countOf(release: Release): Promise<number> {
  return (await get('pods', '--selector', release.selector, ...inNamespace(release))).items.length;
}

async function restartsOf(release: Release, name: string): Promise<number> {
  const { status } = await get('pod', name, ...inNamespace(release));
  const statuses = [...(status.containerStatuses ?? []), ...(status.initContainerStatuses ?? [])];
  return statuses.find(({ name }: any) => name === 'postern').restartCount;
}
