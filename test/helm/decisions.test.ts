import t from 'tap';
import { leastValues, render, requireHelm, theOnly } from './helm.ts';

const decides = 'helm/ci/gateway-decides-nginx-values.yaml';

t.test('a Deployment that only decides', async (t) => {
  if (!requireHelm(t)) return;

  t.test('its Service and its container have the port, which the proxies alone reach', async (t) => {
    const manifests = render(decides);
    const { ports } = theOnly(manifests, 'Service').spec;
    t.match(ports[1], { name: 'decisions-0', port: 8081, targetPort: 8081 });
    const [container] = theOnly(manifests, 'Deployment').spec.template.spec.containers;
    t.match(container.ports[2], { name: 'decisions-0', containerPort: 8081 });
    const [, rule, ...others] = theOnly(manifests, 'NetworkPolicy').spec.ingress;
    t.strictSame(rule, {
      ports: [{ port: 8081, protocol: 'TCP' }],
      from: [{ ipBlock: { cidr: '10.42.0.0/16' } }],
    });
    t.strictSame(others, []);
  });

  t.test('single addresses are blocks, and peers of one’s own stand instead', async (t) => {
    const forward_auth = [{ mode: 'caddy', host: '::', port: 8081, proxies: ['192.0.2.1', '2001:db8::1'] }];
    const values = { ...leastValues, config: { ...leastValues.config, forward_auth } };
    const fromOf = (more: object) =>
      theOnly(render({ ...values, ...more }), 'NetworkPolicy').spec.ingress[1].from;
    t.strictSame(fromOf({}), [
      { ipBlock: { cidr: '192.0.2.1/32' } },
      { ipBlock: { cidr: '2001:db8::1/128' } },
    ]);
    const proxy = { podSelector: { matchLabels: { app: 'proxy' } } };
    t.strictSame(fromOf({ networkPolicy: { decisionsFrom: [proxy] } }), [proxy]);
  });

  t.test('a listener that names no proxies is open to no one outside the pod', async (t) => {
    const forward_auth = [
      { mode: 'nginx', host: '0.0.0.0', port: 8081 },
      { mode: 'caddy', host: '0.0.0.0', port: 8082, proxies: ['192.0.2.1'] },
    ];
    const values = { ...leastValues, config: { ...leastValues.config, forward_auth } };
    const rulesOf = (more: object): any[] =>
      theOnly(render({ ...values, ...more }), 'NetworkPolicy').spec.ingress.slice(1);
    t.strictSame(rulesOf({}), [
      { ports: [{ port: 8082, protocol: 'TCP' }], from: [{ ipBlock: { cidr: '192.0.2.1/32' } }] },
    ]);
    const proxy = { podSelector: { matchLabels: { app: 'proxy' } } };
    t.strictSame(
      rulesOf({ networkPolicy: { decisionsFrom: [proxy] } }).map(({ from }) => from),
      [[proxy], [proxy]],
    );
  });

  t.test(
    'a listener on loopback is for the pod: no Service leads there, and a gateway has nobody who asks',
    async (t) => {
      const forward_auth = [{ mode: 'nginx', port: 8081 }];
      const config = { ...leastValues.config, forward_auth };
      t.throws(() => render({ ...leastValues, config }), {
        message: /config\.forward_auth\[0\]\.host is 127\.0\.0\.1, which no proxy reaches/,
      });
    },
  );
});
