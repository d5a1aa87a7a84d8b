import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { stringify } from 'yaml';
import type { TestScope } from '../support/gateway/gateway.ts';
import { chart, documentsIn, helm, type Manifest } from './helm.ts';

/** What templates look up, by group and version. */
const kinds: Record<string, Record<string, string>> = {
  v1: { configmaps: 'ConfigMap', secrets: 'Secret' },
  'apps/v1': { deployments: 'Deployment' },
};
const apps = { groupVersion: 'apps/v1', version: 'v1' };
const described: Record<string, object> = {
  '/version': { major: '1', minor: '31', gitVersion: 'v1.31.0' },
  '/api': { kind: 'APIVersions', versions: ['v1'] },
  '/apis': {
    kind: 'APIGroupList',
    groups: [{ name: 'apps', versions: [apps], preferredVersion: apps }],
  },
  '/api/v1': resourceList('v1'),
  '/apis/apps/v1': resourceList('apps/v1'),
};

function resourceList(groupVersion: string): object {
  const resources = Object.entries(kinds[groupVersion]!).map(([name, kind]) => ({
    name,
    kind,
    namespaced: true,
    verbs: ['get'],
  }));
  return { kind: 'APIResourceList', groupVersion, resources };
}

const none = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'NotFound', code: 404 };

/** What is in a cluster already. */
export interface ClusterObject {
  readonly kind: 'ConfigMap' | 'Secret' | 'Deployment';
  readonly metadata: { readonly name: string; readonly [key: string]: string };
  readonly data?: Record<string, string>;
  readonly spec?: object;
}

function kindOf(resource: string): string | undefined {
  return Object.values(kinds).find((resources) => resource in resources)?.[resource];
}

/** An API server that has those objects, in whatever namespace they are asked for. */
function createApiServer(objects: readonly ClusterObject[]): Server {
  return createServer(({ url = '' }, response) => {
    const path = url.split('?')[0]!;
    const [resource, name] = path.split('/').slice(-2);
    const found =
      described[path] ??
      objects.find(({ kind, metadata }) => kind === kindOf(resource!) && metadata.name === name);
    response
      .writeHead(found ? 200 : 404, { 'content-type': 'application/json' })
      .end(JSON.stringify(found ?? none));
  });
}

/**
 * What an installation as `shop` makes in a cluster that has those objects, where templates can look them up. Rejects
 * with what helm says when it fails.
 */
export async function install(
  t: TestScope,
  values: object,
  objects: readonly ClusterObject[],
): Promise<Manifest[]> {
  const server = createApiServer(objects).listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  // It keeps what it learns of the API server.
  const HOME = mkdtempSync(join(tmpdir(), 'postern-helm-'));
  t.teardown(() => rmSync(HOME, { recursive: true, force: true }));
  // With this driver helm makes nothing and keeps no release, but asks the cluster all the same.
  const env = { HOME, HELM_DRIVER: 'memory', HELM_MEMORY_DRIVER_DATA: '/dev/null' };
  const to = ['--kube-apiserver', `http://127.0.0.1:${port}`];
  const child = spawn(helm, ['install', 'shop', chart, '--values', '-', '--output', 'json', ...to], { env });
  child.stdin.end(stringify(values));
  const [printed, said, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  if (code !== 0) throw new Error(said);
  return documentsIn(JSON.parse(printed).manifest);
}
