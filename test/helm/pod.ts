import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TestScope } from '../support/gateway.ts';
import { type RunningContainer, startContainer } from './container.ts';
import { type Manifest, theOnly } from './helm.ts';
import { layOutVolumes } from './volumes.ts';

/** How a pod ended. */
export interface PodEnd {
  /** The exit codes by container. */
  readonly codes: Record<string, number | null>;
  /** The containers in the order they ended. */
  readonly order: readonly string[];
  readonly seconds: number;
}

/** A pod of a rendered Deployment whose containers run as processes of this machine. */
export interface RunningPod {
  readonly postern: RunningContainer;
  /** The container of that name. Throws when there is none. */
  container(name: string): RunningContainer;
  /** Ends it in the kubelet's order; rejects when a hook fails or it takes longer than its grace period. */
  end(): Promise<PodEnd>;
}

/**
 * Runs the pod of the one Deployment: native sidecars first, each until its startup probe passes, then the containers.
 * Config maps and secrets are looked for among the manifests. What still runs at the end of the test is killed.
 */
export async function runPod(t: TestScope, manifests: readonly Manifest[]): Promise<RunningPod> {
  const { spec: pod } = theOnly(manifests, 'Deployment').spec.template;
  const folder = mkdtempSync(join(tmpdir(), 'postern-pod-'));
  const volumeFolder = join(folder, 'volumes');
  mkdirSync(volumeFolder);
  const volumes = layOutVolumes(pod, manifests, volumeFolder);
  const running: RunningContainer[] = [];
  t.teardown(async () => {
    for (const { kill } of running) kill();
    await Promise.all(running.map(({ ended }) => ended));
    rmSync(folder, { recursive: true, force: true });
  });
  const start = (spec: any) => {
    const container = startContainer(spec, volumes);
    running.push(container);
    return container;
  };

  const sidecars: RunningContainer[] = [];
  for (const spec of pod.initContainers ?? []) {
    if (spec.restartPolicy !== 'Always') throw new Error(`${spec.name} is no sidecar`);
    const sidecar = start(spec);
    sidecars.push(sidecar);
    await sidecar.untilProbed('startupProbe');
  }
  const containers = (pod.containers as any[]).map(start);
  for (const container of containers) await container.untilProbed('startupProbe');
  for (const container of running) await container.untilProbed('readinessProbe');

  /** Every hook runs at once; a sidecar's signal waits until the containers, and the sidecars after it, have ended. */
  async function endInOrder(order: string[]): Promise<void> {
    let turn: Promise<unknown> = Promise.all(
      containers.map((container) => endContainer(container, Promise.resolve(), order)),
    );
    for (const sidecar of sidecars.toReversed()) turn = endContainer(sidecar, turn, order);
    await turn;
  }

  function container(name: string): RunningContainer {
    const found = running.find(({ spec }) => spec.name === name);
    if (!found) throw new Error(`no container ${name}`);
    return found;
  }

  return {
    postern: container('postern'),
    container,
    async end() {
      const began = performance.now();
      const order: string[] = [];
      const patience = new AbortController();
      const timedOut = sleep(pod.terminationGracePeriodSeconds * 1000, undefined, patience).then(() => {
        throw new Error(`after ${pod.terminationGracePeriodSeconds} s there still run some beside ${order}`);
      });
      timedOut.catch(() => {});
      await Promise.race([endInOrder(order), timedOut]);
      patience.abort();
      const codes = await Promise.all(running.map(async ({ spec, ended }) => [spec.name, await ended]));
      return { codes: Object.fromEntries(codes), order, seconds: (performance.now() - began) / 1000 };
    },
  };
}

async function endContainer(
  container: RunningContainer,
  turn: Promise<unknown>,
  order: string[],
): Promise<void> {
  const ended = container.ended.then(() => order.push(container.spec.name));
  await Promise.all([container.preStop(), turn]);
  container.stop();
  await ended;
}
