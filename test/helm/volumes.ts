import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Manifest } from './helm.ts';

/** File contents by name, of a config map or a secret. */
type Files = Record<string, string>;

/** Lays the volumes of a pod out in a folder, as the kubelet does; where each is, by name. Throws for an unknown kind. */
export function layOutVolumes(pod: any, manifests: readonly Manifest[], folder: string): Map<string, string> {
  const volumes = (pod.volumes ?? []) as any[];
  return new Map(
    volumes.map((volume) => {
      const path = join(folder, volume.name);
      mkdirSync(path);
      const files = filesOf(volume, manifests);
      if (files !== undefined) linkFiles(path, files);
      return [volume.name, path];
    }),
  );
}

function filesOf(volume: any, manifests: readonly Manifest[]): Files | undefined {
  if (volume.emptyDir || volume.persistentVolumeClaim) return undefined;
  if (volume.configMap)
    return selected(dataOf(manifests, 'ConfigMap', volume.configMap.name), volume.configMap.items);
  if (volume.secret)
    return selected(dataOf(manifests, 'Secret', volume.secret.secretName), volume.secret.items);
  if (volume.projected) {
    const files = volume.projected.sources.map(({ secret }: any) =>
      selected(dataOf(manifests, 'Secret', secret.name), secret.items),
    );
    return Object.assign({}, ...files) as Files;
  }
  throw new Error(`no volume of that kind is known: ${JSON.stringify(volume)}`);
}

function dataOf(manifests: readonly Manifest[], kind: string, name: string): Files {
  const found = manifests.find((manifest) => manifest.kind === kind && manifest.metadata.name === name);
  if (!found) throw new Error(`no ${kind} ${name}`);
  return found.data ?? found.stringData;
}

function selected(data: Files, items?: { key: string; path: string }[]): Files {
  if (!items) return data;
  return Object.fromEntries(
    items.map(({ key, path }) => {
      if (data[key] === undefined) throw new Error(`no key ${key}`);
      return [path, data[key]];
    }),
  );
}

/** Every name leads through `..data`, which is what changes when the files do. */
function linkFiles(path: string, files: Files): void {
  const version = '..2026_11_21_09_30_00.000000001';
  mkdirSync(join(path, version));
  symlinkSync(version, join(path, '..data'));
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(path, version, name), text);
    symlinkSync(join('..data', name), join(path, name));
  }
}
