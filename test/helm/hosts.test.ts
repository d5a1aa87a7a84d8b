import { readFileSync } from 'node:fs';
import t from 'tap';
import { parse } from 'yaml';
import { render, requireHelm, theOnly } from './helm.ts';
import { namesOfHosts } from './host-names.ts';

const file = 'helm/ci/gateway-hosts-values.yaml';
const names = ['gate.acme.example.com', 'wiki.acme.example.com', '*.preview.acme.dev'];

t.test('hosts that people enter with one sign-in', async (t) => {
  if (!requireHelm(t)) return;
  const values = parse(readFileSync(file, 'utf8'));
  const withHosts = (hosts: readonly unknown[], more: object = {}) => ({
    ...values,
    ...more,
    config: { ...values.config, hosts },
  });

  t.test('ingress and route have each of them, with its certificate', async (t) => {
    const manifests = render(file);
    const { rules, tls } = theOnly(manifests, 'Ingress').spec;
    t.strictSame(
      rules.map(({ host }: { host: string }) => host),
      names,
    );
    for (const { http } of rules) t.strictSame([http.paths.length, http.paths[0].path], [1, '/']);
    t.strictSame(tls, [
      { hosts: ['*.preview.acme.dev'], secretName: 'preview-tls' },
      { hosts: ['gate.acme.example.com'], secretName: 'gate-tls' },
      { hosts: ['wiki.acme.example.com'], secretName: 'wiki-tls' },
    ]);
    t.strictSame(theOnly(manifests, 'HTTPRoute').spec.hostnames, names);
  });

  t.test('ports are of the entry alone, and the console comes before', async (t) => {
    const web = { console: { base_url: 'https://console.acme.example.com' } };
    const ported = ['https://wiki.acme.example.com:8443', 'https://*.preview.acme.dev:8443'];
    const config = { ...values.config, web, hosts: ported };
    const [first, ...others] = names;
    t.strictSame(theOnly(render({ ...values, config }), 'HTTPRoute').spec.hostnames, [
      first,
      'console.acme.example.com',
      ...others,
    ]);
  });

  t.test('certificates beside those that are written out', async (t) => {
    const tls = [{ hosts: names, secretName: 'all' }];
    const ingress = { ...values.ingress, tls, tlsSecrets: { 'wiki.acme.example.com': 'wiki-tls' } };
    t.strictSame(theOnly(render({ ...values, ingress }), 'Ingress').spec.tls, [
      ...tls,
      { hosts: ['wiki.acme.example.com'], secretName: 'wiki-tls' },
    ]);
  });

  t.test('a route has 16 names at most, so that more are several routes', async (t) => {
    const many = Array.from({ length: 40 }, (_, index) => `h${index}.acme.example.com`);
    const manifests = render(
      withHosts(
        many.map((name) => `https://${name}`),
        { ingress: { enabled: false } },
      ),
    );
    const routes = manifests.filter(({ kind }) => kind === 'HTTPRoute');
    t.strictSame(
      routes.map(({ metadata, spec }) => [metadata.name, spec.hostnames.length]),
      [
        ['shop-postern', 16],
        ['shop-postern-2', 16],
        ['shop-postern-3', 9],
      ],
    );
    t.strictSame(
      routes.flatMap(({ spec }) => spec.hostnames),
      [names[0], ...many],
    );
    for (const { spec } of routes) t.strictSame(spec.rules, routes[0]!.spec.rules);
  });

  t.test('a certificate for no host of the ingress, and an entry that isn’t written out', async (t) => {
    const ingress = { enabled: true, tlsSecrets: { 'wikki.acme.example.com': 'wiki-tls' } };
    t.throws(() => render({ ...values, ingress }), {
      message:
        /ingress\.tlsSecrets has wikki\.acme\.example\.com, which is no host of the ingress; its hosts are gate/,
    });
    const outside = withHosts(['https://wiki.acme.example.com', { env: 'PREVIEW' }], {
      ingress: { enabled: true },
    });
    for (const kind of ['ingress', 'httpRoute'])
      t.throws(() => render(outside), {
        message: new RegExp(
          `${kind} is enabled, but its hosts are not given and config\\.hosts\\[1\\] is not written out`,
        ),
      });
  });

  t.test('an entry that is no origin, which would be missing outside', async (t) => {
    const says = (entry: string, index: number) =>
      `\n\nThis release can't work:\n- config.hosts[${index}] is ${entry}; it must be an origin such as ` +
      'https://wiki.acme.example.com or https://*.preview.acme.dev.\n\n';
    for (const entry of [
      'wiki.acme.example.com',
      'https://Wiki.acme.example.com',
      'https://wiki.acme.example.com/',
      'https://*.*.acme.dev',
      'https://pr-*.acme.dev',
      'https://*',
    ])
      t.match(
        refusalOf(withHosts([`https://${names[1]}`, entry], { ingress: { enabled: true } })),
        says(entry, 1),
      );
    const own = withHosts([names[1]], { existingConfig: 'mine', ingress: { enabled: true } });
    t.match(refusalOf(own), says(names[1]!, 0), 'where they are there for the ingress alone');
  });

  t.test('names that the API server refuses are refused before anything is made', async (t) => {
    const { parentRefs } = values.httpRoute;
    const judge = (name: string, more: object) =>
      refusalOf(withHosts([`https://${name}`], { ingress: {}, httpRoute: {}, ...more }));
    for (const { name, inIngress, inRoute } of namesOfHosts) {
      const ofIngress = judge(name, { ingress: { enabled: true } });
      if (inIngress) t.equal(ofIngress, '', name);
      else t.match(ofIngress, `ingress is enabled, but ${name} is no name that an Ingress can have`);
      const ofRoute = judge(name, { httpRoute: { enabled: true, parentRefs } });
      if (inRoute) t.equal(ofRoute, '', name);
      else t.match(ofRoute, `httpRoute is enabled, but ${name} is no name that an HTTPRoute can have`);
      const written = {
        ingress: { enabled: true, hosts: [{ host: names[1] }] },
        httpRoute: { enabled: true, parentRefs, hostnames: [names[1]] },
      };
      t.equal(judge(name, written), '', 'while others are written out');
    }
  });
});

/** What helm says of the values; empty if they can work. */
function refusalOf(values: object): string {
  try {
    render(values);
    return '';
  } catch (error) {
    return (error as Error).message;
  }
}
