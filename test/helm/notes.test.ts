import t from 'tap';
import { leastValues, render, requireHelm, theOnly } from './helm.ts';

/** A document with the notes in it, which `helm template` doesn't print. */
const withNotes = `
apiVersion: v1
kind: ConfigMap
metadata: { name: notes }
data: { text: {{ include "postern/templates/NOTES.txt" . | quote }} }
`;

function notesOf({ config = {}, ...values }: { config?: object; [key: string]: unknown } = {}): string {
  const all = {
    ...leastValues,
    ...values,
    config: { ...leastValues.config, ...config },
    extraManifests: [withNotes],
  };
  return theOnly(render(all), 'ConfigMap', 'notes').data.text;
}

const sidecar = { mode: 'sidecar', sidecar: { containers: [{ name: 'orders', image: 'orders' }] } };
const loopback = { upstreams: { app: { url: 'http://127.0.0.1:9000' } } };
const monitor = { serviceMonitor: { enabled: true } };
const monitoring = [{ podSelector: { matchLabels: { app: 'prometheus' } } }];

t.test('helm prints notes after the installation', async (t) => {
  if (!requireHelm(t)) return;

  t.test('a gateway: where it is, and that nothing keeps others from the service yet', async (t) => {
    const text = notesOf();
    t.match(text, 'serves tenant acme as a gateway.');
    t.match(text, 'http://shop-postern.default:80');
    t.match(text, 'exec deploy/shop-postern -c postern -- postern bootstrap-token');
    t.match(text, 'upstreamPodLabels is empty');
    t.notMatch(text, /WARNING|is off|trusted_proxies/);
  });

  t.test('a sidecar: to let the service listen on loopback', async (t) => {
    const text = notesOf({ ...sidecar, config: loopback });
    t.match(text, 'Have the service listen on 127.0.0.1');
    t.notMatch(text, /upstreamPodLabels|WARNING/);
  });

  t.test('without policies: that everything is open', async (t) => {
    const networkPolicy = { enabled: false, upstreamPodLabels: { app: 'orders' } };
    const text = notesOf({ networkPolicy, metrics: monitor });
    t.match(text, /networkPolicy is off: .* open to the whole cluster/);
    t.notMatch(text, /upstreamPodLabels|WARNING/);
  });

  t.test('a warning when Prometheus is to scrape and is not let in', async (t) => {
    t.match(notesOf({ metrics: monitor }), /WARNING: .*networkPolicy\.managementFrom is empty/);
    const named = notesOf({ metrics: monitor, networkPolicy: { managementFrom: monitoring } });
    t.notMatch(named, 'WARNING');
  });

  t.test('a warning when everything is gone with the pod', async (t) => {
    t.match(notesOf({ persistence: { enabled: false } }), /WARNING: without persistence every user/);
  });

  t.test('behind an ingress: to name its addresses', async (t) => {
    const ingress = { enabled: true };
    t.match(notesOf({ ingress }), 'config.trusted_proxies is empty');
    t.notMatch(notesOf({ ingress, config: { trusted_proxies: ['10.0.0.0/8'] } }), 'trusted_proxies');
  });
});
