import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cacheFolder, hyperkube, kubernetesVersion } from './folders.ts';

const minor = kubernetesVersion.replace(/^1\./, '');
const kubernetes = `k8s.io/kubernetes@v${kubernetesVersion}`;

/**
 * Builds the binary from the modules that Go is configured to take, unless the cache has it: a quarter of an hour on a
 * fast machine, and an hour on a slow one.
 */
export function buildBinary(say: (line: string) => void): void {
  if (existsSync(hyperkube)) return;
  say(`builds Kubernetes ${kubernetesVersion} into ${hyperkube}, once: this takes long`);
  mkdirSync(cacheFolder, { recursive: true });
  const folder = mkdtempSync(join(tmpdir(), 'postern-hyperkube-'));
  try {
    cpSync(join(import.meta.dirname, 'hyperkube/main.go'), join(folder, 'main.go'));
    writeFileSync(join(folder, 'go.mod'), moduleFile());
    go(folder, ['mod', 'edit', `-require=${kubernetes}`]);
    go(folder, ['build', '-trimpath', '-ldflags', `-s -w ${versionFlags()}`, '-o', `${hyperkube}.new`, '.']);
    renameSync(`${hyperkube}.new`, hyperkube);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Kubernetes' own: it lists every dependency, but replaces its own libraries by folders that only its repository has.
 * Here they are the published modules. Only the main module's replacements count.
 */
function moduleFile(): string {
  const listed = go(tmpdir(), ['mod', 'download', '-json', kubernetes]);
  const own = readFileSync(JSON.parse(listed).GoMod, 'utf8');
  return own
    .replace(/^module .*$/m, 'module hyperkube')
    .replace(/(k8s\.io\/[a-z-]+) => \.\/staging\/.*/g, `$1 => $1 v0.${minor}`);
}

/** Without a version the API server says v0.0.0, and charts that ask for one can't be installed. */
function versionFlags(): string {
  const packages = ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version'];
  return packages
    .flatMap((name) => [
      `-X ${name}.gitVersion=v${kubernetesVersion}`,
      `-X ${name}.gitMajor=1`,
      `-X ${name}.gitMinor=${minor.split('.')[0]}`,
      `-X ${name}.gitTreeState=clean`,
    ])
    .join(' ');
}

function go(cwd: string, args: readonly string[]): string {
  // The compiler would collect garbage for a fifth of its time.
  const env = { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-mod=mod', GOWORK: 'off', GOGC: '400' };
  return execFileSync('go', args, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
}
