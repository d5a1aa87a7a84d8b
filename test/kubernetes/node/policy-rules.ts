/** Whether labels match a selector. */
export function isSelected(
  { matchLabels = {}, matchExpressions = [] }: any,
  labels: Record<string, string>,
): boolean {
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator, values = [] }: any) => {
      if (operator === 'In') return values.includes(labels[key]);
      if (operator === 'NotIn') return !values.includes(labels[key]);
      return Object.hasOwn(labels, key) === (operator === 'Exists');
    })
  );
}

/** What a policy admits to or from a pod, as conditions of iptables. */
export function rulesOf(
  { metadata, spec }: any,
  pod: any,
  direction: 'Ingress' | 'Egress',
  pods: any[],
  namespaceLabels: ReadonlyMap<string, any>,
): string[] {
  const [entries, flag] = direction === 'Ingress' ? [spec.ingress, '-s'] : [spec.egress, '-d'];
  return (entries ?? []).flatMap((entry: any) => {
    const peers: any[] | undefined = direction === 'Ingress' ? entry.from : entry.to;
    const addresses = peers?.length
      ? peers.flatMap((peer) => conditionsOf(peer, flag, metadata.namespace, pods, namespaceLabels))
      : [''];
    return addresses.flatMap((address: string) =>
      portsOf(entry.ports, pod).map((port) => `${address} ${port}`),
    );
  });
}

function conditionsOf(
  { ipBlock, namespaceSelector, podSelector }: any,
  flag: string,
  ownNamespace: string,
  pods: any[],
  namespaceLabels: ReadonlyMap<string, any>,
): string[] {
  if (ipBlock) {
    if (ipBlock.cidr.includes(':')) return [];
    // A negated condition takes one address: an exception of several is none that the chart has.
    const [except] = ipBlock.except ?? [];
    return [`${flag} ${ipBlock.cidr}${except ? ` -m iprange ! ${rangeFlag(flag)} ${rangeOf(except)}` : ''}`];
  }
  return pods
    .filter(({ metadata }) =>
      namespaceSelector
        ? isSelected(namespaceSelector, namespaceLabels.get(metadata.namespace) ?? {})
        : metadata.namespace === ownNamespace,
    )
    .filter(({ metadata }) => isSelected(podSelector ?? {}, metadata.labels ?? {}))
    .map(({ status }) => `${flag} ${status.podIP}/32`);
}

function rangeFlag(flag: string): string {
  return flag === '-s' ? '--src-range' : '--dst-range';
}

function rangeOf(cidr: string): string {
  const [address = '', bits = '32'] = cidr.split('/');
  const first = address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
  const last = first + 2 ** (32 - Number(bits)) - 1;
  const written = (value: number) =>
    [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.');
  return `${written(first)}-${written(last)}`;
}

function portsOf(ports: any[] | undefined, { spec }: any): string[] {
  if (!ports?.length) return [''];
  return ports.flatMap(({ protocol = 'TCP', port, endPort }) => {
    const number = typeof port === 'string' ? numberOf(port, spec) : port;
    if (typeof port === 'string' && number === undefined) return [];
    const destination = number === undefined ? '' : ` --dport ${number}${endPort ? `:${endPort}` : ''}`;
    return [`-p ${protocol.toLowerCase()}${destination}`];
  });
}

function numberOf(name: string, { containers, initContainers = [] }: any): number | undefined {
  const ports = [...containers, ...initContainers].flatMap((container: any) => container.ports ?? []);
  return ports.find((port: any) => port.name === name)?.containerPort;
}
