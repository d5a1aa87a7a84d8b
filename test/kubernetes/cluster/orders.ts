import { registry } from '../node/folders.ts';

/** How it differs from one that speaks HTTP on port 9000. */
export interface OrdersOptions {
  /** Of the Service and its pods. */
  readonly name?: string;
  readonly port?: number;
  /** A Secret with a certificate, for HTTPS. */
  readonly tlsSecret?: string;
}

const tlsFolder = '/run/tls';

/** The Service `orders` with its pod, as any that a gateway protects. */
export function ordersService({ name = 'orders', port = 9000, tlsSecret }: OrdersOptions = {}): object[] {
  const labels = { app: name };
  const volumes = tlsSecret === undefined ? [] : [{ name: 'tls', secret: { secretName: tlsSecret } }];
  const container = {
    name: 'orders',
    image: `${registry}/orders:1`,
    env: [
      { name: 'BIND', value: `0.0.0.0:${port}` },
      ...(tlsSecret === undefined ? [] : [{ name: 'TLS', value: tlsFolder }]),
    ],
    volumeMounts: volumes.map(({ name }) => ({ name, mountPath: tlsFolder })),
    readinessProbe: { tcpSocket: { port }, periodSeconds: 2 },
    lifecycle: { preStop: { sleep: { seconds: 5 } } },
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
    resources: { requests: { cpu: '20m', memory: '32Mi' } },
  };
  const pod = {
    automountServiceAccountToken: false,
    securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    containers: [container],
    volumes,
  };
  return [
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name },
      spec: { replicas: 1, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: pod } },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name },
      spec: { selector: labels, ports: [{ port }] },
    },
  ];
}
