import { readFileSync } from 'node:fs';
import { clientTlsFiles } from './client-tls.ts';
import type { Config } from './schema.ts';

/** Reads a file that a configuration names. Throws Node's error if it can't be read. */
export type ReadFile = (path: string) => Buffer;

/** What the files that a valid configuration names by their paths held when they were read; it can be sent to a process. */
export type ConfiguredFiles = ReadonlyMap<string, FileContent>;

/** The bytes of a file, or why it can't be read. */
type FileContent = { readonly bytes: Uint8Array } | { readonly code: string; readonly message: string };

/**
 * Reads the TLS files of every connection that Postern makes the logo and the keys of the records, each once, so that all that is built of them has
 * the same content. Those of `listen.tls` are watched instead.
 */
export function readConfiguredFiles(config: Config): ConfiguredFiles {
  return new Map(configuredFiles(config).map((path) => [path, contentOf(path)]));
}

/** Reads from what was read before. */
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

function configuredFiles({ upstreams, stores, web }: Config): string[] {
  const files = [
    ...(web?.logo === undefined ? [] : [web.logo]),
    ...(stores.records_encryption?.keys ?? []).map(({ file }) => file),
    ...clientTlsFiles(stores.records_tls),
    ...clientTlsFiles(stores.sessions_tls),
    ...Object.values(upstreams).flatMap((upstream) => clientTlsFiles(upstream.tls)),
  ];
  return [...new Set(files)];
}

function contentOf(path: string): FileContent {
  try {
    return { bytes: readFileSync(path) };
  } catch (error) {
    const { code = 'unknown error', message } = error as NodeJS.ErrnoException;
    return { code, message };
  }
}
