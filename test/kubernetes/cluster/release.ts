import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { type ApiClient, createApiClient } from '../../support/clients/api-client.ts';
import { eventually } from '../../support/eventually.ts';
import { createSecretWatch } from '../../support/gateway/secret-watch.ts';
import { registry } from '../node/folders.ts';
import { helm, kubectl } from './commands.ts';
import { addressOf } from './namespace.ts';
import type { Stores } from './stores.ts';

/** An installed chart. */
export interface Release {
  readonly namespace: string;
  readonly workload: string;
  /** `deploy/…`, and its pods' label. */
  readonly selector: string;
  /** Of the Service, which has port 80. */
  readonly address: string;
  readonly api: ApiClient;
  /** Upgrades it, with further values that are kept for later upgrades, and waits for its pods. */
  upgrade(values: object): Promise<void>;
  uninstall(): Promise<void>;
}

/** The password of the administrator. */
export const password = 'correct horse battery staple';
const name = 'acme';

/** Installs the chart as `acme` and waits until all its pods are ready. */
export async function install(namespace: string, values: object): Promise<Release> {
  let all = values;
  await change(namespace, all);
  const address = await addressOf(namespace, `${name}-postern`);
  return {
    namespace,
    workload: `deploy/${name}-postern`,
    selector: `postern/instance=${name}-postern`,
    address,
    api: createApiClient(80, createSecretWatch(), address),
    async upgrade(more) {
      all = { ...all, ...more };
      await change(namespace, all);
    },
    async uninstall() {
      await helm('uninstall', name, '--wait', '--namespace', namespace);
    },
  };
}

async function change(namespace: string, values: object): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'postern-release-'));
  const file = join(folder, 'values.yaml');
  writeFileSync(file, stringify(values));
  const how = ['--install', '--wait', '--timeout=5m', '--values', file, '--namespace', namespace];
  try {
    await helm('upgrade', name, 'helm', ...how);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Activates the administrator; gives an access token of theirs, a refresh cookie, and a key for `orders:read`. */
export async function openUp(release: Release) {
  const { api } = release;
  // kube-proxy may hear of pods that are ready a moment after kubectl.
  await eventually('its Service leads to it', () =>
    api.send({ path: '/api/orders' }).then(
      () => true,
      () => false,
    ),
  );
  const activated = await api.activate('admin', password, await bootstrapTokenOf(release));
  if (activated.status !== 201) throw new Error(activated.text);
  const { accessToken, cookie } = await api.signIn('admin', password);
  const { id, key } = await api.mintKey(accessToken, { label: 'load', scopes: ['orders:read'] });
  return { accessToken, cookie, id: id as string, key: key as string };
}

/** The token that activates the administrator. */
export async function bootstrapTokenOf({ namespace, workload }: Release): Promise<string> {
  const inPostern = ['exec', '--namespace', namespace, workload, '--container=postern', '--'];
  return (await kubectl(...inPostern, 'postern', 'bootstrap-token')).trim();
}

/** Replicas on those stores, in front of `orders`; `config` are further keys of the configuration. */
export function gatewayValues(stores: Stores, more: object = {}, config: object = {}): object {
  return {
    image: { repository: `${registry}/postern` },
    replicaCount: 3,
    resources: { requests: { cpu: '20m', memory: '64Mi' } },
    secrets: stores.values.secrets,
    config: { ...configOf('http://orders:9000'), ...stores.values.config, ...config },
    podDisruptionBudget: { enabled: true },
    ...more,
  };
}

/** The same beside `orders`, in its pods. */
export function sidecarValues(stores: Stores, native: boolean): object {
  const ready = ['curl', '-fsS', '-o', '/dev/null', 'http://127.0.0.1:9000/health'];
  const orders = {
    name: 'orders',
    image: `${registry}/orders:1`,
    env: [{ name: 'BIND', value: '127.0.0.1:9000' }],
    readinessProbe: { exec: { command: ready }, periodSeconds: 2, timeoutSeconds: 5 },
    securityContext: { runAsUser: 1000, allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
  };
  const config = { ...configOf('http://127.0.0.1:9000'), ...stores.values.config };
  return gatewayValues(stores, { mode: 'sidecar', config, sidecar: { native, containers: [orders] } });
}

function configOf(url: string): object {
  return {
    tenant: 'acme',
    base_url: 'http://acme.example.com',
    scopes: { 'orders:read': 'Read orders' },
    upstreams: { orders: { url } },
    routes: [{ prefix: '/api', upstream: 'orders' }],
  };
}
