import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Manifest } from './helm.ts';

/** What is no part of Kubernetes itself. */
const custom = ['gateway.networking.k8s.io/v1', 'monitoring.coreos.com/v1'];

function moduleOf(apiVersion: string): string {
  if (custom.includes(apiVersion)) return resolve('test/helm/custom-resources.ts');
  const [group = '', version] = apiVersion.includes('/') ? apiVersion.split('/') : ['core', apiVersion];
  return `kubernetes-types/${group.replace('.k8s.io', '')}/${version}`;
}

/** A document as TypeScript, in which a key that its type does not have is an error. */
function asSource(manifest: Manifest): string {
  const { apiVersion, kind } = manifest;
  return `import type { ${kind} } from '${moduleOf(apiVersion)}';\nexport const manifest: ${kind} = ${JSON.stringify(manifest, null, 1)};\n`;
}

/** Checks documents against the types of the Kubernetes API; what the compiler says of each that is wrong. */
export function typeErrorsOf(manifests: readonly Manifest[]): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'postern-manifests-'));
  try {
    const files = manifests.map((manifest, index) => {
      const name = `${index}-${manifest.kind}-${manifest.metadata?.name}.ts`;
      writeFileSync(join(folder, name), asSource(manifest));
      return name;
    });
    const compilerOptions = {
      noEmit: true,
      strict: true,
      skipLibCheck: true,
      allowImportingTsExtensions: true,
      module: 'preserve',
      types: [],
      paths: { 'kubernetes-types/*': [resolve('node_modules/kubernetes-types/*')] },
    };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
    return runCompiler(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function runCompiler(folder: string): string[] {
  // Under tap's hooks into Node, which reach every child by NODE_OPTIONS, the compiler doesn't start.
  const { status, stdout, stderr } = spawnSync(
    'env',
    ['-u', 'NODE_OPTIONS', resolve('node_modules/.bin/tsc'), '-p', folder, '--pretty', 'false'],
    { encoding: 'utf8' },
  );
  return status === 0 ? [] : `${stdout}${stderr}`.trim().split('\n');
}
