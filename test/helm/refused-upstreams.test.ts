import t from 'tap';
import { requireHelm } from './helm.ts';
import { type Change, type Refusal, testRefusals, testTaken } from './refusals.ts';

const sidecar = { mode: 'sidecar', sidecar: { containers: [{ name: 'orders', image: 'orders' }] } };

const refused: readonly Refusal[] = [
  {
    name: 'a gateway in front of its own loopback',
    config: { upstreams: { app: { url: 'http://127.0.0.1:9000' } } },
    says: /config\.upstreams\.app\.url is 127\.0\.0\.1, the pod itself, where a gateway has Postern alone/,
  },
  ...['0.0.0.0', '[::]', '[::1]', 'LOCALHOST'].map((host) => ({
    name: `a gateway in front of ${host}`,
    config: { upstreams: { app: { url: `http://${host}:9000` } } },
    says: /the pod itself, where a gateway has Postern alone/,
  })),
  ...['', '.default', '.default.svc', '.default.svc.cluster.local'].map((domain) => ({
    name: `a gateway in front of its own Service, shop-postern${domain}`,
    config: { upstreams: { app: { url: `http://shop-postern${domain}` } } },
    says: /config\.upstreams\.app\.url is shop-postern.*, Postern's own Service/,
  })),
  {
    name: 'a sidecar in front of its own Service',
    config: { upstreams: { app: { url: 'https://shop-postern:443' } } },
    values: sidecar,
    says: /config\.upstreams\.app\.url is shop-postern, Postern's own Service/,
  },
  {
    name: 'a gateway in front of a socket in no volume',
    config: { upstreams: { app: { url: 'unix:/run/orders.sock' } } },
    says: /config\.upstreams\.app\.url is a socket, but a gateway's pod shares no folder/,
  },
  {
    name: 'a sidecar in front of 0.0.0.0 at its own port',
    config: { upstreams: { app: { url: 'http://0.0.0.0:8080' } } },
    values: sidecar,
    says: /config\.upstreams\.app\.url is Postern's own port 8080/,
  },
  {
    name: 'a sidecar in front of itself',
    config: { upstreams: { app: { url: 'http://localhost:8080' } } },
    values: sidecar,
    says: /config\.upstreams\.app\.url is Postern's own port 8080/,
  },
];

const taken: readonly Change[] = [
  ...['shop-postern-2', 'shop-postern.other', 'shop-postern.default.example.com', 'my-shop-postern'].map(
    (host) => ({
      name: `a gateway in front of ${host}, which is not its own`,
      config: { upstreams: { app: { url: `http://${host}:9000` } } },
    }),
  ),
  {
    name: 'a gateway in front of a socket in a volume',
    config: { upstreams: { app: { url: 'unix:/run/orders/http.sock' } } },
    values: {
      extraVolumes: [{ name: 'socket', hostPath: { path: '/run/orders' } }],
      extraVolumeMounts: [{ name: 'socket', mountPath: '/run/orders' }],
    },
  },
];

t.test('an upstream that can’t be there is refused with a sentence', async (t) => {
  if (!requireHelm(t)) return;
  testRefusals(t, refused);
  testTaken(t, taken);
});
