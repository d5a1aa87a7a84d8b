import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { parse } from 'yaml';
import { chart, renderText, withValuesFile } from '../helm/helm.ts';
import type { ApiResponse } from '../support/clients/api-client.ts';
import { eventually } from '../support/eventually.ts';
import { leeway } from '../support/gateway/replicas.ts';
import {
  createHostBrowser,
  type HostBrowser,
  hiddenFields,
  hostCookieName,
  hostStartPrefix,
  leadsTo,
  notes,
  preview,
  wiki,
} from '../support/pages/hosts.ts';
import { webCookieName } from '../support/pages/web.ts';
import { type Certificate, makeCertificate } from '../support/servers/certificates.ts';
import { apply, command, get, helm, kubectl, requireNode } from './cluster/commands.ts';
import { startIngressController } from './cluster/ingress.ts';
import { createIngressClient } from './cluster/ingress-client.ts';
import { createNamespace } from './cluster/namespace.ts';
import { ordersService } from './cluster/orders.ts';
import { bootstrapTokenOf, install, password, type Release } from './cluster/release.ts';
import { replicasOf } from './cluster/replica.ts';
import { startStores } from './cluster/stores.ts';
import { definitionsFolder } from './node/definitions.ts';
import { kubernetesVersion } from './node/folders.ts';

const file = 'helm/ci/gateway-hosts-values.yaml';
/** Where the file has the services. */
const namespace = 'shop';
const base = 'https://gate.acme.example.com';
const otherPreview = 'https://pr-8.preview.acme.dev';
const person = { username: 'admin', password };
const names = ['gate.acme.example.com', 'wiki.acme.example.com', '*.preview.acme.dev'];
const later = new URL(notes).host;

/** The chart with the file's values on two replicas, and what a test needs to know of it. */
interface Site {
  readonly release: Release;
  readonly config: any;
  readonly ingress: any;
  readonly ca: readonly Buffer[];
}

t.test(`${file}: one sign-in for many hosts`, async (t) => {
  if (!requireNode(t)) return;
  await kubectl('apply', '--server-side', '--filename', definitionsFolder);
  await kubectl('wait', '--for=condition=Established', 'crd', '--all', '--timeout=60s');
  const site = await installSite(t);
  const { release } = site;
  const tested = await helm('test', 'acme', '--timeout=90s', '--namespace', namespace);
  t.match(tested.stdout, /Phase:\s+Succeeded/);

  await t.test('ingress and route have each host', seeObjects);
  await t.test('forty hosts are taken too', seeManyHosts);
  await t.test('the way in, step by step', (t) => enterByStep(t, release));
  const browser = createHostBrowser(await clientOfEach(release));
  await t.test('each step at another replica', (t) => enterEach(t, browser));
  await t.test('through an ingress', (t) => enterThroughIngress(t, site));
  await t.test('cookies outlive the pods', async (t) => {
    await kubectl('rollout', 'restart', release.workload, '--namespace', namespace);
    await kubectl('rollout', 'status', release.workload, '--namespace', namespace);
    const moved = withCookiesOf(browser, await clientOfEach(release));
    for (const origin of [wiki, preview, otherPreview]) await staysAt(t, moved, `${origin}/later`);
  });
  await t.test('a host comes and goes', (t) => addAndRemoveHost(t, site, browser));
  await t.test('signing out at one host ends it at each', (t) => signOut(t, release, browser));
});

async function installSite(t: Test): Promise<Site> {
  await createNamespace(t, namespace);
  const folder = mkdtempSync(join(tmpdir(), 'postern-hosts-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const stores = await startStores(t, namespace, 'acme');
  const { config, ingress, ...values } = parse(readFileSync(file, 'utf8')) as any;
  const secrets = { ...ingress.tlsSecrets, [later]: 'notes-tls' };
  const made = Object.entries<string>(secrets).map(([name, secret]) => ({
    secret,
    certificate: makeCertificate(folder, secret, [`DNS:${name}`]),
  }));
  const services = [
    { name: 'wiki', port: 3000 },
    { name: 'preview', port: 9000 },
    { name: 'notes', port: 9000 },
  ];
  await apply(namespace, [
    ...made.map(({ secret, certificate }) => tlsSecret(secret, certificate)),
    ...services.flatMap(ordersService),
  ]);
  for (const { name } of services)
    await kubectl('rollout', 'status', `deploy/${name}`, '--namespace', namespace);
  const onStores = { ...config, ...stores.values.config };
  const release = await install(namespace, {
    ...values,
    replicaCount: 2,
    resources: { requests: { cpu: '20m', memory: '64Mi' } },
    secrets: stores.values.secrets,
    ingress,
    config: onStores,
  });
  const token = await bootstrapTokenOf(release);
  // kube-proxy may hear of pods that are ready a moment after kubectl.
  await eventually(
    'its Service leads to it',
    async () => (await release.api.activate('admin', password, token)).status === 201,
  );
  return { release, config: onStores, ingress, ca: made.map(({ certificate }) => certificate.cert) };
}

function tlsSecret(name: string, { cert, key }: Certificate): object {
  const data = { 'tls.crt': cert.toString('base64'), 'tls.key': key.toString('base64') };
  return { apiVersion: 'v1', kind: 'Secret', type: 'kubernetes.io/tls', metadata: { name }, data };
}

async function seeObjects(t: Test): Promise<void> {
  const { spec } = await get('ingress', 'acme-postern', '--namespace', namespace);
  t.strictSame(
    spec.rules.map(({ host }: any) => host),
    names,
  );
  t.strictSame(spec.tls, [
    { hosts: ['*.preview.acme.dev'], secretName: 'preview-tls' },
    { hosts: ['gate.acme.example.com'], secretName: 'gate-tls' },
    { hosts: ['wiki.acme.example.com'], secretName: 'wiki-tls' },
  ]);
  const { metadata, spec: route } = await get('httproute', 'acme-postern', '--namespace', namespace);
  t.strictSame(route.hostnames, names);
  t.equal(metadata.generation, 1, 'the API server has altered nothing');
}

async function seeManyHosts(t: Test): Promise<void> {
  const { config, ...values } = parse(readFileSync(file, 'utf8'));
  const many = Array.from({ length: 40 }, (_, index) => `https://h${index}.acme.example.com`);
  const all = { ...values, ingress: { enabled: true }, config: { ...config, hosts: many } };
  const text = withValuesFile(all, (file) =>
    renderText(['many', chart, '--values', file, '--kube-version', kubernetesVersion]),
  );
  const dryRun = ['apply', '--server-side', '--dry-run=server', '--namespace', namespace, '--filename', '-'];
  const { stdout, stderr } = await command('kubectl', dryRun, text);
  t.equal(stderr, '');
  t.strictSame(stdout.match(/^(?:ingress|httproute)\S+/gm)?.sort(), [
    'httproute.gateway.networking.k8s.io/many-postern',
    'httproute.gateway.networking.k8s.io/many-postern-2',
    'httproute.gateway.networking.k8s.io/many-postern-3',
    'ingress.networking.k8s.io/many-postern',
  ]);
}

async function enterByStep(t: Test, release: Release): Promise<void> {
  const browser = createHostBrowser(release);
  const refused = await browser.send(`${wiki}/page?x=1`);
  t.match(refused, { status: 302, headers: { location: '/postern/start?return_to=%2Fpage%3Fx%3D1' } });
  const start = await browser.send(wiki + leadsTo(refused));
  t.match([...browser.cookiesAt(wiki).keys()], [new RegExp(`^${hostStartPrefix}`)]);
  const signInAt = new URL(leadsTo(start)!);
  t.equal(signInAt.origin + signInAt.pathname, `${base}/postern/sign-in`);
  t.equal(signInAt.searchParams.get('return_to'), `${wiki}/page?x=1`);

  const page = await browser.send(signInAt.href);
  t.match(page, { status: 200, text: 'wiki.acme.example.com' });
  const form = { ...hiddenFields(page.text), ...person };
  const signedIn = await browser.send(`${base}/postern/sign-in`, { form });
  t.ok(browser.cookiesAt(base).has(webCookieName), 'the session is at base_url');
  const entry = await browser.send(new URL(leadsTo(signedIn)!, base).href);
  t.match(entry, {
    status: 302,
    headers: { location: /^https:\/\/wiki\.acme\.example\.com\/postern\/enter\?/ },
  });
  const entered = await browser.send(leadsTo(entry)!);
  t.match(entered, { status: 303, headers: { location: '/page?x=1' } });
  const cookie = entered.setCookies.find((line) => line.startsWith(`${hostCookieName}=`))!;
  t.match(cookie, /; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
  t.strictSame([...browser.cookiesAt(wiki).keys()], [hostCookieName]);

  browser.cookiesAt(wiki).set('theme', 'dark');
  const { json } = await browser.send(`${wiki}/page?x=1`);
  t.match(json, { url: '/page?x=1', username: 'admin', tenant: 'acme', host: 'wiki.acme.example.com' });
  t.match(json.pod, /^wiki-/);
  t.equal(json.cookie, 'theme=dark', 'its service gets its own cookie alone');
  const { accessToken } = await release.api.signIn('admin', password);
  const program = { path: '/program', headers: { host: new URL(wiki).host }, bearer: accessToken };
  t.match((await release.api.send(program)).json, { username: 'admin' }, 'programs need no cookie');
}

async function enterEach(t: Test, browser: HostBrowser): Promise<void> {
  t.match(seenAt(await browser.signIn(`${wiki}/a`, person)), { at: `${wiki}/a`, pod: /^wiki-/ });
  for (const origin of [preview, otherPreview]) {
    const host = new URL(origin).host;
    const shown = seenAt(await browser.open(`${origin}/b`));
    t.match(shown, { at: `${origin}/b`, pod: /^preview-/, username: 'admin', host });
  }
  // Two labels in the place of one, and a name of no entry.
  for (const origin of ['https://a.b.preview.acme.dev', notes])
    t.match(await browser.send(`${origin}/b`), { status: 404 }, origin);
}

async function enterThroughIngress(t: Test, { ca }: Site): Promise<void> {
  await startIngressController(t, namespace);
  const api = createIngressClient(t, ca);
  const browser = createHostBrowser({ api });
  t.match(seenAt(await browser.signIn(`${wiki}/a`, person)), { at: `${wiki}/a`, pod: /^wiki-/ });
  for (const origin of [preview, otherPreview])
    t.match(seenAt(await browser.open(`${origin}/b`)), { at: `${origin}/b`, pod: /^preview-/ });
  await t.rejects(browser.send('https://a.b.preview.acme.dev/'), 'no certificate has two labels');
}

async function addAndRemoveHost(t: Test, { release, config, ingress }: Site, former: HostBrowser) {
  const withLater = {
    ...config,
    hosts: [...config.hosts, notes],
    upstreams: { ...config.upstreams, notes: { url: `http://notes.${namespace}:9000` } },
    routes: [...config.routes, { prefix: '/', host: later, upstream: 'notes', browser: true }],
  };
  const tlsSecrets = { ...ingress.tlsSecrets, [later]: 'notes-tls' };
  await release.upgrade({ config: withLater, ingress: { ...ingress, tlsSecrets } });
  const browser = withCookiesOf(former, await clientOfEach(release));
  t.match(seenAt(await browser.open(`${notes}/c`)), { at: `${notes}/c`, pod: /^notes-/, username: 'admin' });
  t.strictSame(await hostsOutside(), [...names, later]);

  await release.upgrade({ config, ingress });
  const after = withCookiesOf(browser, await clientOfEach(release));
  t.match(await after.send(`${notes}/c`), { status: 404 });
  await staysAt(t, after, `${wiki}/d`);
  t.strictSame(await hostsOutside(), names);
}

async function hostsOutside(): Promise<string[]> {
  const { spec } = await get('ingress', 'acme-postern', '--namespace', namespace);
  return spec.rules.map(({ host }: any) => host);
}

async function signOut(t: Test, release: Release, former: HostBrowser): Promise<void> {
  const replicas = await replicasOf(release);
  const browser = withCookiesOf(former, await clientOfEach(release));
  const cookies = new Map([wiki, preview, otherPreview].map((origin) => [origin, cookieAt(browser, origin)]));
  for (const [origin] of cookies) for (const _ of replicas) await staysAt(t, browser, `${origin}/e`);

  const signedOut = await browser.send(`${preview}/postern/sign-out`, { form: {} });
  t.match(signedOut, { status: 303, headers: { location: '/postern/signed-out' } });
  const since = performance.now();
  for (const [origin, cookie] of cookies)
    for (const { api } of replicas)
      await eventually(`${origin} asks for a sign-in`, async () => {
        const headers = { host: new URL(origin).host, accept: 'text/html' };
        return (await api.send({ path: '/e', headers, cookie })).status === 302;
      });
  t.ok(performance.now() - since < 1_000 * leeway, 'at every replica within a second');
  t.match((await browser.open(`${wiki}/e`)).url, /^https:\/\/gate\.acme\.example\.com\/postern\/sign-in\?/);
}

/** One whose requests reach the next of the replicas, each in its turn. */
async function clientOfEach(release: Release) {
  const replicas = await replicasOf(release);
  let count = 0;
  return {
    get api() {
      count += 1;
      return replicas[count % replicas.length]!.api;
    },
  };
}

/** The browser, which finds the hosts elsewhere now. */
function withCookiesOf(browser: HostBrowser, gateway: Parameters<typeof createHostBrowser>[0]): HostBrowser {
  const moved = createHostBrowser(gateway);
  for (const origin of [base, wiki, preview, otherPreview, notes])
    for (const [name, value] of browser.cookiesAt(origin)) moved.cookiesAt(origin).set(name, value);
  return moved;
}

const cookieAt = (browser: HostBrowser, origin: string) =>
  [...browser.cookiesAt(origin)].map((pair) => pair.join('=')).join('; ');

/** What the service said of the request that reached it, and the address of the page. */
const seenAt = ({ url, json }: ApiResponse & { readonly url: string }) => ({ ...json, at: url });

/** Nothing leads away from there. */
async function staysAt(t: Test, browser: HostBrowser, url: string): Promise<void> {
  const { status, json } = await browser.send(url);
  t.match({ status, json }, { status: 200, json: { username: 'admin' } }, url);
}
