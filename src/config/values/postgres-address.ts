import { hasValidPort, hostPattern, parseHost, parseUserinfo, userinfoPattern } from './authority.ts';

/** The address of a records store in PostgreSQL. */
export interface PostgresAddress {
  readonly kind: 'postgres';
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string | undefined;
  readonly database: string;
  /** Name of the schema; matches `[a-z_][a-z0-9_]{0,62}`. Each tenant has its own schema. */
  readonly schema: string;
  /** True if the address asks for TLS, which always verifies the server's certificate. */
  readonly tls: boolean;
}

const defaultPort = 5432;
const defaultUser = 'postgres';
const defaultSchema = 'postern';

/** Matches an option: a schema name that SQL need not quote, or an `sslmode`, of which `require` verifies like `verify-full`. */
const option = '(?:schema=(?!pg_)[a-z_][a-z0-9_]{0,62}|sslmode=(?:disable|require|verify-full))';
const pattern = new RegExp(
  `^postgres(?:ql)?://${userinfoPattern}(${hostPattern})/([^/?#\\s]+)(?:\\?(${option}(?:&${option})*))?$`,
);

/**
 * Reads `postgres://USER:PASSWORD@HOST:PORT/DATABASE?schema=NAME&sslmode=MODE`; only HOST and DATABASE are required; defaults:
 * user `postgres`, port 5432, schema `postern`, no TLS. User, password and database are percent-decoded. Undefined for anything
 * else; throws a RangeError, whose message never contains the address, for malformed percent-encoding.
 */
export function readPostgresAddress(text: string): PostgresAddress | undefined {
  const [, userinfo, host, database, query] = pattern.exec(text) ?? [];
  if (host === undefined || database === undefined || !hasValidPort(host)) return undefined;
  const { username, password } = parseUserinfo(userinfo);
  const options = new URLSearchParams(query);
  return {
    kind: 'postgres',
    ...parseHost(host, defaultPort),
    user: username || defaultUser,
    password,
    database: decodeDatabase(database),
    schema: options.get('schema') ?? defaultSchema,
    tls: (options.get('sslmode') ?? 'disable') !== 'disable',
  };
}

/** The address without user and password, for messages. */
export function describeAddress({ host, port, database, schema }: PostgresAddress): string {
  const authority = host.includes(':') ? `[${host}]` : host;
  return `postgres://${authority}:${port}/${encodeURIComponent(database)}?schema=${schema}`;
}

function decodeDatabase(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new RangeError('must have a percent-encoded database name');
  }
}
