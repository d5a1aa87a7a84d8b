import { globSync, readFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t, { type Test } from 'tap';
import { parse } from 'yaml';
import { eventually } from '../support/eventually.ts';
import { administrator, bootstrapToken, startTestGateway } from '../support/gateway/gateway.ts';
import { startGatewayProcess } from '../support/gateway/gateway-process.ts';
import type { MetricFamily } from '../support/gateway/prometheus-text.ts';
import { type Scrape, scrape } from '../support/gateway/scrape.ts';
import { makeCertificate } from '../support/servers/certificates.ts';
import { guessPort } from '../support/servers/loopback-port.ts';
import { requirePostgres } from '../support/stores/postgres-programs.ts';
import { startPostgres } from '../support/stores/postgres-server.ts';

/** An expression and its location. */
interface Expression {
  readonly where: string;
  readonly text: string;
}

/** What Prometheus adds to what it scrapes in Kubernetes, and the bound of a bucket. */
const addedLabels: readonly string[] = ['namespace', 'job', 'pod', 'le'];
const aMetric = /\bpostern_[a-z0-9_]+/g;
/** Prometheus' own `up`, of whatever it scrapes, too. */
const aSeries = /\b(?:postern_[a-z0-9_]+|up(?=\{))/g;

setFlagsFromString('--expose-gc');
/** The gateway is in this process: what is collected here, it shows. */
const collectGarbage: () => void = runInNewContext('gc');

/** The metrics of a gateway with every feature that has some, after every kind of request. */
async function metricsAfterWalk(t: Test): Promise<Scrape> {
  const { url } = await startPostgres(t);
  const { api, managementPort } = await startTestGateway(t, {
    config: { stores: { records: url, sessions: 'sqlite:sessions.db' } },
  });
  const { username, password } = administrator;
  await api.activate(username, password, bootstrapToken);
  const { accessToken, cookie } = await api.signIn(username, password);
  const { key } = await api.mintKey(accessToken, { label: 'k', scopes: ['store:read'] });
  await api.refresh(cookie);
  await api.send({ path: '/api/store/a', apiKey: key });
  await api.send({ path: '/api/store/a', bearer: accessToken });
  await api.send({ path: '/api/store/a' });
  collectGarbage();
  const shown = await eventually('the collection is noted', async () => {
    const scraped = await scrape(managementPort);
    return scraped.families.get('postern_nodejs_gc_duration_seconds')!.samples.length > 0 && scraped;
  });
  const others = [
    ...(await metricsOfTls(t)),
    ...(await metricsOfDecisions(t)),
    ...(await metricsOfWorkers(t)),
  ];
  return { ...shown, families: new Map([...shown.families, ...others]) };
}

/** Those of decisions for other proxies, after one. */
async function metricsOfDecisions(t: Test): Promise<[string, MetricFamily][]> {
  const port = guessPort();
  const { managementPort } = await startTestGateway(t, {
    config: { forward_auth: [{ mode: 'nginx', port }] },
  });
  const headers = { 'x-original-method': 'GET', 'x-original-uri': '/api/open/x', connection: 'close' };
  await fetch(`http://127.0.0.1:${port}/`, { headers });
  return [...(await scrape(managementPort)).families].filter(([name]) => name.startsWith('postern_decision'));
}

/** Those that only a gateway in several processes has. */
async function metricsOfWorkers(t: Test): Promise<[string, MetricFamily][]> {
  const { managementPort } = await startGatewayProcess(t, { config: { workers: 2 } });
  return [...(await scrape(managementPort)).families].filter(([name]) => name.startsWith('postern_worker_'));
}

/** Those that only a listener with TLS has samples of. */
async function metricsOfTls(t: Test): Promise<[string, MetricFamily][]> {
  const { certFile: cert, keyFile: key } = makeCertificate(t.testdir(), 'own', ['DNS:a']);
  const { managementPort } = await startTestGateway(t, { config: { listen: { tls: { cert, key } } } });
  return [...(await scrape(managementPort)).families].filter(([name]) =>
    name.startsWith('postern_certificate_'),
  );
}

function labelsOf({ samples }: Pick<MetricFamily, 'samples'> = { samples: [] }): string[] {
  const labels = new Set(samples.flatMap((sample) => Object.keys(sample.labels)));
  labels.delete('le');
  return [...labels].sort();
}

/** The metric that an expression means by a name; parts of a histogram by the histogram's. */
function familyOf({ families }: Scrape, name: string): MetricFamily | undefined {
  const part = /^(.*)_(?:bucket|sum|count)$/.exec(name)?.[1];
  const histogram = part === undefined ? undefined : families.get(part);
  return histogram?.type === 'histogram' ? histogram : families.get(name);
}

/** What of an expression there is not. */
function unknownIn(shown: Scrape, { where, text }: Expression): string[] {
  const names = text.match(aMetric) ?? [];
  const unknown = names.filter((name) => {
    const family = familyOf(shown, name);
    // A histogram has no series of its plain name.
    return family === undefined || (family.type === 'histogram' && family.name === name);
  });
  const known = new Set(addedLabels);
  for (const name of names) for (const label of labelsOf(familyOf(shown, name))) known.add(label);
  const grouped = [...text.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list]) => list!.split(', '));
  const selected = [...text.matchAll(/(\w+)(?:=~|!~|!=|=)"/g)].map(([, label]) => label!);
  unknown.push(...[...grouped, ...selected].filter((label) => !known.has(label)));
  const codes = new Set(
    shown.families.get('postern_refusals_total')!.samples.map(({ labels }) => labels.code!),
  );
  for (const [, list] of text.matchAll(/code=~?"([^"]*)"/g))
    unknown.push(...list!.split('|').filter((code) => !codes.has(code)));
  return unknown.map((what) => `${where}: ${what}`);
}

function dashboardExpressions(): Expression[] {
  const { panels } = JSON.parse(readFileSync('helm/dashboards/postern.json', 'utf8'));
  return panels.flatMap(({ title, targets = [] }: any) =>
    targets.map(({ expr }: any) => ({ where: title, text: expr })),
  );
}

function alerts(): any[] {
  return parse(readFileSync('helm/alerts/postern.yaml', 'utf8')).groups.flatMap(({ rules }: any) => rules);
}

t.test('the documents name every metric of a gateway, and nothing else', async (t) => {
  if (!requirePostgres(t)) return;
  const shown = await metricsAfterWalk(t);

  t.test('docs/metrics.md has a row for each, with its type and labels', async (t) => {
    const text = readFileSync('docs/metrics.md', 'utf8');
    const rows = [...text.matchAll(/^\| `(postern_\w+)` \| (\w+) \| ([^|]*)\| [^|]+\|$/gm)];
    const documented = rows.map(([, name, type, labels]) => ({
      name: name!,
      type,
      labels: [...labels!.matchAll(/`(\w+)`/g)].map(([, label]) => label!).sort(),
    }));
    t.strictSame(documented.map(({ name }) => name).sort(), [...shown.families.keys()].sort());
    for (const { name, type, labels } of documented) {
      const family = shown.families.get(name)!;
      t.equal(type, family.type, name);
      // What has not happened (a request of Node's) has no sample to tell its labels by.
      if (family.samples.length > 0) t.strictSame(labels, labelsOf(family), name);
    }
  });

  t.test('no other document names a metric that there is not', async (t) => {
    // By their ends: there are tables, roles and variables of that beginning, too.
    const named = /\bpostern_\w+_(?:total|seconds|successful)\b/g;
    for (const file of ['README.md', ...globSync('docs/*.md')])
      for (const name of readFileSync(file, 'utf8').match(named) ?? [])
        t.ok(familyOf(shown, name), `${file}: ${name}`);
  });

  t.test('the dashboard asks for what there is, and leaves none of our own out', async (t) => {
    const expressions = dashboardExpressions();
    t.strictSame(
      expressions.flatMap((expression) => unknownIn(shown, expression)),
      [],
    );
    const asked = new Set(
      expressions.flatMap(({ text }) =>
        (text.match(aMetric) ?? []).map((name) => familyOf(shown, name)?.name),
      ),
    );
    const left = [...shown.families.keys()].filter((name) => !asked.has(name));
    t.strictSame(
      left.filter((name) => !/^postern_(?:process|nodejs)_/.test(name)),
      [],
    );
  });

  t.test('the alerts ask for what there is, for one job, and can say what they say', async (t) => {
    for (const { alert, expr, annotations } of alerts()) {
      t.strictSame(unknownIn(shown, { where: alert, text: expr }), []);
      const metrics = expr.match(aSeries).length;
      t.equal(expr.match(/\{job="postern"/g)?.length, metrics, `${alert}: the chart narrows every selector`);
      const grouped = /\bby \(([^)]*)\)/.exec(expr)?.[1]?.split(', ') ?? [];
      for (const [, label] of JSON.stringify(annotations).matchAll(/\$labels\.(\w+)/g))
        t.ok(grouped.includes(label!), `${alert}: ${label}`);
    }
  });

  t.test('the check sees a metric, a label and a code that there is not', async (t) => {
    const seen = (text: string) => unknownIn(shown, { where: 'here', text });
    t.strictSame(seen('sum by (job) (postern_refusals_total{code="not_found"})'), []);
    t.strictSame(seen('sum by (route) (postern_refusals_total{code="nope"})'), ['here: route', 'here: nope']);
    t.strictSame(seen('postern_open_streams{upstream="app"}'), ['here: upstream']);
    t.strictSame(seen('postern_request_own_seconds'), ['here: postern_request_own_seconds']);
    t.strictSame(seen('postern_request_own_seconds_total'), ['here: postern_request_own_seconds_total']);
  });
});
