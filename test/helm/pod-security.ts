/** The volumes that the level `restricted` allows. */
const volumeKinds = [
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'persistentVolumeClaim',
  'projected',
  'secret',
];
const seccompTypes = ['RuntimeDefault', 'Localhost'];

/**
 * What the Pod Security level `restricted` (Kubernetes 1.34, Linux) refuses in the spec of a pod, one sentence each:
 * https://kubernetes.io/docs/concepts/security/pod-security-standards/
 */
export function problemsOfPod(pod: any): string[] {
  const ofPod = pod.securityContext ?? {};
  const containers = [
    ...(pod.initContainers ?? []),
    ...(pod.containers ?? []),
    ...(pod.ephemeralContainers ?? []),
  ];
  const problems = ['hostNetwork', 'hostPID', 'hostIPC'].filter((key) => pod[key]);
  for (const { name, ...kinds } of pod.volumes ?? [])
    for (const kind of Object.keys(kinds))
      if (!volumeKinds.includes(kind)) problems.push(`volume ${name} is ${kind}`);
  if (ofPod.runAsUser === 0) problems.push('the pod runs as root');
  if (ofPod.sysctls || ofPod.seLinuxOptions || ofPod.windowsOptions || ofPod.appArmorProfile)
    problems.push('the pod has options that no chart of ours sets');
  return [...problems, ...containers.flatMap((container) => problemsOfContainer(container, ofPod))];
}

function problemsOfContainer({ name, ports, ...container }: any, ofPod: any): string[] {
  const own = container.securityContext ?? {};
  const seccomp = own.seccompProfile ?? ofPod.seccompProfile;
  const { drop = [], add = [] } = own.capabilities ?? {};
  const probes = [container.startupProbe, container.livenessProbe, container.readinessProbe];
  const hooks = [container.lifecycle?.preStop, container.lifecycle?.postStart];
  const rules: readonly (readonly [boolean, string])[] = [
    [(own.runAsNonRoot ?? ofPod.runAsNonRoot) !== true, 'may run as root'],
    [own.runAsUser === 0, 'runs as root'],
    [own.privileged === true, 'is privileged'],
    [own.allowPrivilegeEscalation !== false, 'may escalate its privileges'],
    [!drop.includes('ALL'), 'keeps capabilities'],
    [add.some((capability: string) => capability !== 'NET_BIND_SERVICE'), 'adds capabilities'],
    [!seccompTypes.includes(seccomp?.type), 'has no seccomp profile'],
    [own.procMount !== undefined && own.procMount !== 'Default', 'unmasks /proc'],
    [(ports ?? []).some(({ hostPort }: any) => hostPort), 'takes a port of the node'],
    [
      [...probes, ...hooks].some((action) => action?.httpGet?.host ?? action?.tcpSocket?.host),
      'has the kubelet ask another host',
    ],
  ];
  return rules.filter(([broken]) => broken).map(([, problem]) => `${name} ${problem}`);
}
