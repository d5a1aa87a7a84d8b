import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, globSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { cacheFolder } from './folders.ts';

/** Modules of Go that have the definitions of kinds which the chart can create, and where in them. */
const modules = {
  'sigs.k8s.io/gateway-api@v1.2.1': 'config/crd/standard/*_httproutes.yaml',
  'github.com/prometheus-operator/prometheus-operator@v0.85.0':
    'example/prometheus-operator-crd/*_{servicemonitors,prometheusrules}.yaml',
};

/** Where they are: one file for each. */
export const definitionsFolder = join(cacheFolder, 'definitions');

/** Fetches them, unless the cache has them. */
export function fetchDefinitions(): void {
  if (existsSync(definitionsFolder)) return;
  const folder = `${definitionsFolder}.new`;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const [module, pattern] of Object.entries(modules)) {
    const options = { cwd: cacheFolder, encoding: 'utf8' } as const;
    const { Dir } = JSON.parse(execFileSync('go', ['mod', 'download', '-json', module], options));
    for (const file of globSync(join(Dir, pattern))) cpSync(file, join(folder, basename(file)));
  }
  renameSync(folder, definitionsFolder);
}
