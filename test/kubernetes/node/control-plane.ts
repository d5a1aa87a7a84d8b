import { join } from 'node:path';
import { nodeAddress, serviceRange } from './addresses.ts';
import type { Credentials } from './certificates.ts';
import { inHyperkube, type StartDaemon } from './daemons.ts';
import { hyperkube } from './folders.ts';

/** Starts etcd and the API server. */
export function startApiServer(start: StartDaemon, state: string, credentials: Credentials): void {
  const [clients, peers] = ['http://127.0.0.1:2379', 'http://127.0.0.1:2380'];
  const etcd = {
    'data-dir': join(state, 'etcd'),
    'listen-client-urls': clients,
    'advertise-client-urls': clients,
    'listen-peer-urls': peers,
    'initial-advertise-peer-urls': peers,
    'initial-cluster': `default=${peers}`,
    'unsafe-no-fsync': true,
  };
  start('etcd', hyperkube, inHyperkube('etcd', etcd));

  const { caFile, serverCert, serverKey, adminCert, adminKey, accountKey } = credentials;
  const apiServer = {
    'etcd-servers': clients,
    'advertise-address': nodeAddress,
    'bind-address': '0.0.0.0',
    'secure-port': 6443,
    'tls-cert-file': serverCert,
    'tls-private-key-file': serverKey,
    'client-ca-file': caFile,
    'kubelet-client-certificate': adminCert,
    'kubelet-client-key': adminKey,
    'kubelet-preferred-address-types': 'InternalIP',
    'service-account-issuer': 'https://kubernetes.default.svc',
    'service-account-key-file': accountKey,
    'service-account-signing-key-file': accountKey,
    'service-cluster-ip-range': serviceRange,
    'authorization-mode': 'RBAC',
    'allow-privileged': true,
  };
  start('kube-apiserver', hyperkube, inHyperkube('kube-apiserver', apiServer));
}

/** Starts the controllers and the scheduler, once the API server responds. */
export function startControllers(start: StartDaemon, { accountKey, caFile, kubeconfig }: Credentials): void {
  const controllers = {
    kubeconfig,
    'service-account-private-key-file': accountKey,
    'root-ca-file': caFile,
    'allocate-node-cidrs': false,
    'leader-elect': false,
  };
  start('kube-controller-manager', hyperkube, inHyperkube('kube-controller-manager', controllers));
  start('kube-scheduler', hyperkube, inHyperkube('kube-scheduler', { kubeconfig, 'leader-elect': false }));
}
