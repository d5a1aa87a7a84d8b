import { registry } from '../node/folders.ts';

/** The Service `orders` on port 9000 with its pods, as any that a gateway protects. */
export function ordersService(replicas = 1): object[] {
  const labels = { app: 'orders' };
  const container = {
    name: 'orders',
    image: `${registry}/orders:1`,
    readinessProbe: { tcpSocket: { port: 9000 }, periodSeconds: 2 },
    lifecycle: { preStop: { sleep: { seconds: 5 } } },
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
    resources: { requests: { cpu: '20m', memory: '32Mi' } },
  };
  const pod = {
    automountServiceAccountToken: false,
    securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    containers: [container],
  };
  return [
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'orders' },
      spec: { replicas, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: pod } },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'orders' },
      spec: { selector: labels, ports: [{ port: 9000 }] },
    },
  ];
}
