import { resolve } from 'node:path';
import type { Config } from './sections/schema.ts';
import { isTlsFile } from './values/certificates.ts';

/** The configuration with every path of a file or socket resolved against `folder`. */
export function withAbsolutePaths(config: Config, folder: string): Config {
  const upstreams = Object.entries(config.upstreams).map(([name, upstream]) => [
    name,
    { ...upstream, url: withAbsolutePath(upstream.url, folder), ...tlsOf(upstream, folder) },
  ]);
  const { records, records_tls, records_encryption, sessions, sessions_tls } = config.stores;
  return {
    ...config,
    listen: { ...config.listen, ...tlsOf(config.listen, folder) },
    forward_auth: config.forward_auth.map((listener) => ({ ...listener, ...tlsOf(listener, folder) })),
    stores: {
      ...config.stores,
      records: withAbsolutePath(records, folder),
      sessions: withAbsolutePath(sessions, folder),
      ...(records_tls && { records_tls: absoluteFiles(records_tls, folder) }),
      ...(records_encryption && {
        records_encryption: {
          keys: records_encryption.keys.map(({ id, file }) => ({ id, file: resolve(folder, file) })),
        },
      }),
      ...(sessions_tls && { sessions_tls: absoluteFiles(sessions_tls, folder) }),
    },
    upstreams: Object.fromEntries(upstreams),
    ...(config.web?.logo !== undefined && {
      web: { ...config.web, logo: resolve(folder, config.web.logo) },
    }),
  };
}

/** The address with its path, if it has one, resolved against `folder`. */
export function withAbsolutePath<Address extends object>(address: Address, folder: string): Address {
  return 'path' in address ? { ...address, path: resolve(folder, String(address.path)) } : address;
}

function tlsOf<Tls extends object>({ tls }: { tls?: Tls }, folder: string): { tls?: Tls } {
  return tls ? { tls: absoluteFiles(tls, folder) } : {};
}

function absoluteFiles<Tls extends object>(tls: Tls, folder: string): Tls {
  const files = Object.entries(tls).map(([key, value]) => [
    key,
    isTlsFile(key) ? resolve(folder, value as string) : value,
  ]);
  return Object.fromEntries(files) as Tls;
}
