import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { nodeAddress, nodeName, podRange } from './addresses.ts';
import type { Credentials } from './certificates.ts';
import { inHyperkube, type StartDaemon } from './daemons.ts';
import { hyperkube } from './folders.ts';
import { pluginFolder } from './requirements.ts';

/** The image of the container that holds a pod's namespaces. */
export const pauseImage = 'registry.k8s.io/pause:3.6';

/** The socket of containerd. */
export const containerdSocket = (state: string) => join(state, 'containerd.sock');

/** Starts containerd, whose pods are on one bridge. */
export function startContainerd(start: StartDaemon, state: string): void {
  const networks = join(state, 'networks');
  mkdirSync(networks);
  const ranges = [[{ subnet: podRange }]];
  const ipam = {
    type: 'host-local',
    dataDir: join(state, 'pod-addresses'),
    ranges,
    routes: [{ dst: '0.0.0.0/0' }],
  };
  const bridge = { type: 'bridge', bridge: 'cni0', isGateway: true, ipMasq: false, hairpinMode: true, ipam };
  const portMap = { type: 'portmap', capabilities: { portMappings: true } };
  const network = { cniVersion: '0.4.0', name: 'pods', plugins: [bridge, portMap] };
  writeFileSync(join(networks, '10-pods.conflist'), JSON.stringify(network));

  const file = join(state, 'containerd.toml');
  writeFileSync(
    file,
    `version = 2
root = "${state}/containerd"
state = "${state}/containerd-run"
disabled_plugins = ["io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.zfs", "io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.devmapper"]
[grpc]
  address = "${containerdSocket(state)}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${pauseImage}"
  # Without CAP_SYS_RESOURCE a container can't get the score that the kubelet gives to that of a pod.
  restrict_oom_score_adj = true
  disable_apparmor = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "${pluginFolder}"
    conf_dir = "${networks}"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      SystemdCgroup = false
`,
  );
  start('containerd', 'containerd', ['--config', file]);
}

/** Starts the kubelet and the proxy, once containerd responds. */
export function startKubelet(start: StartDaemon, state: string, { caFile, kubeconfig }: Credentials): void {
  const kubelet = {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    authentication: { anonymous: { enabled: false }, x509: { clientCAFile: caFile } },
    cgroupDriver: 'cgroupfs',
    // What is below it is removed with the node.
    cgroupRoot: '/postern-kubernetes',
    clusterDNS: [nodeAddress],
    clusterDomain: 'cluster.local',
    containerRuntimeEndpoint: `unix://${containerdSocket(state)}`,
    failSwapOn: false,
    resolvConf: join(state, 'resolv.conf'),
    imageGCHighThresholdPercent: 100,
    evictionHard: { 'memory.available': '100Mi', 'nodefs.available': '1%', 'imagefs.available': '1%' },
    podLogsDir: join(state, 'pod-logs'),
    volumePluginDir: join(state, 'volume-plugins'),
  };
  const kubeletFlags = {
    config: configFile(state, 'kubelet', kubelet),
    kubeconfig,
    'hostname-override': nodeName,
    'node-ip': nodeAddress,
    'root-dir': join(state, 'kubelet'),
    'cert-dir': join(state, 'kubelet-certificates'),
  };
  start('kubelet', hyperkube, inHyperkube('kubelet', kubeletFlags));

  const proxy = {
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    clientConnection: { kubeconfig },
    clusterCIDR: podRange,
    hostnameOverride: nodeName,
    mode: 'iptables',
    // What it would set is the machine's.
    conntrack: { maxPerCore: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' },
  };
  const proxyFlags = { config: configFile(state, 'kube-proxy', proxy) };
  start('kube-proxy', hyperkube, inHyperkube('kube-proxy', proxyFlags));
}

function configFile(state: string, name: string, config: object): string {
  const file = join(state, `${name}.yaml`);
  writeFileSync(file, stringify(config));
  return file;
}
