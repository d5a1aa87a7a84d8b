import type { LookupFunction } from 'node:net';
import { types } from 'pg';
import type { ReadFile } from '../../config/configured-files.ts';
import { type ClientTlsPaths, loadClientTls } from '../../config/values/client-tls.ts';
import { describeAddress, type PostgresAddress } from '../../config/values/postgres-address.ts';
import { StoreOpenError } from '../store-open-error.ts';
import type { CheckedClientConfig } from './checked-client.ts';

/** Address of PostgreSQL, and everything else that a connection needs. */
export interface PostgresAccess {
  readonly address: PostgresAddress;
  /** Takes precedence over the password in the address. */
  readonly password?: string | undefined;
  /** PEM files; undefined: TLS only if the address requires it, with the certificate authorities that Node trusts. */
  readonly tls?: ClientTlsPaths | undefined;
  /** Reads the files of `tls`; default: from the disk. */
  readonly readFile?: ReadFile | undefined;
  /** Resolves the server's name; default: getaddrinfo(3). */
  readonly lookup?: LookupFunction | undefined;
}

const int8 = types.builtins.INT8;
const getTypeParser = (oid: number, format?: 'text' | 'binary') =>
  oid === int8 ? Number : types.getTypeParser(oid, format as 'text');

/**
 * The settings of every connection to the store; none is taken from the environment. Throws {@link StoreOpenError}
 * when a file of `tls` can't be read. `timeoutMs` limits a connection attempt, and each statement.
 *
 * Schema and timeouts are startup parameters: a pooler that can't keep them between two transactions, and would give one
 * tenant another's tables, refuses the connection instead.
 */
export function createClientConfig(access: PostgresAccess, timeoutMs: number): CheckedClientConfig {
  const { address } = access;
  const password = access.password ?? address.password ?? '';
  return {
    host: address.host,
    port: address.port,
    lookup: access.lookup,
    user: address.user,
    database: address.database,
    // A function is never printed, and keeps pg from looking for passwords elsewhere.
    password: () => password,
    ssl: access.tls === undefined && !address.tls ? false : readTlsFiles(access),
    application_name: 'postern',
    options: `-c search_path="${address.schema}" -c client_encoding=UTF8`,
    connectionTimeoutMillis: timeoutMs,
    statement_timeout: timeoutMs,
    // A connection that stalls in the middle of a write would block all other writers.
    idle_in_transaction_session_timeout: timeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    // Instants and counts are safe integers; pg's own parser, which is global, gives strings.
    types: { getTypeParser: getTypeParser as typeof types.getTypeParser },
  };
}

function readTlsFiles({ address, tls, readFile }: PostgresAccess): CheckedClientConfig['ssl'] {
  try {
    return { rejectUnauthorized: true, ...loadClientTls(tls, readFile) };
  } catch (error) {
    throw new StoreOpenError(
      describeAddress(address),
      `can't read a file for TLS (${(error as Error).message})`,
    );
  }
}
