import { readFileSync } from 'node:fs';
import type { Config } from './sections/schema.ts';
import { clientTlsFiles } from './values/client-tls.ts';

/** Reads a file that a configuration names. Throws Node's error if it can't be read. */
export type ReadFile = (path: string) => Buffer;

/** Contents of the files that a valid configuration names, by path; they can be sent to another process. */
export type ConfiguredFiles = ReadonlyMap<string, FileContent>;

/** The bytes of a file, or the error of reading it. */
type FileContent = { readonly bytes: Uint8Array } | { readonly code: string; readonly message: string };

/** Reads the logo and the upstreams' TLS files, each only once. Listeners' TLS files are left out: they are watched. */
export function readConfiguredFiles(config: Config): ConfiguredFiles {
  return contentsOf(filesOf(config));
}

/** Reads the files that stores are opened with. They are read once, at the start: workers started later use the same content. */
export function readStoreFiles({ stores }: Config): ConfiguredFiles {
  return contentsOf(storeFileKeys.flatMap((key) => filesOfStores(stores, key)));
}

/** The paths of the files that {@link readConfiguredFiles} and {@link readStoreFiles} read. */
export function configuredPaths(config: Config): readonly string[] {
  return [
    ...new Set([...filesOf(config), ...storeFileKeys.flatMap((key) => filesOfStores(config.stores, key))]),
  ];
}

/** The keys of `stores` that name files. */
export const storeFileKeys = ['records_tls', 'records_encryption', 'sessions_tls'] as const;

/** Paths of the files that a key of `stores` names. */
export function filesOfStores(
  stores: Config['stores'],
  key: (typeof storeFileKeys)[number],
): readonly string[] {
  if (key === 'records_encryption') return (stores.records_encryption?.keys ?? []).map(({ file }) => file);
  return clientTlsFiles(stores[key]);
}

/** True if a file's bytes differ from those read earlier, or if it couldn't or can't be read. */
export function hasChanged(files: ConfiguredFiles, path: string): boolean {
  const [before, now] = [files.get(path), contentOf(path)];
  if (before === undefined || !('bytes' in before) || !('bytes' in now)) return true;
  return Buffer.compare(before.bytes, now.bytes) !== 0;
}

/** Creates a reader of files whose content has been read already. */
export function readFrom(files: ConfiguredFiles): ReadFile {
  return (path) => {
    const content = files.get(path);
    if (content !== undefined && 'bytes' in content) return Buffer.from(content.bytes);
    const { code, message } = content ?? {
      code: 'ENOENT',
      message: `not among the configured files: ${path}`,
    };
    throw Object.assign(new Error(message), { code, syscall: 'open', path });
  };
}

function filesOf({ upstreams, web }: Config): readonly string[] {
  const logo = web?.logo === undefined ? [] : [web.logo];
  return [...logo, ...Object.values(upstreams).flatMap((upstream) => clientTlsFiles(upstream.tls))];
}

function contentsOf(paths: readonly string[]): ConfiguredFiles {
  return new Map([...new Set(paths)].map((path) => [path, contentOf(path)]));
}

function contentOf(path: string): FileContent {
  try {
    return { bytes: readFileSync(path) };
  } catch (error) {
    const { code = 'unknown error', message } = error as NodeJS.ErrnoException;
    return { code, message };
  }
}
