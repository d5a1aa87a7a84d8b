/** Where a records store in PostgreSQL is, as its address in the configuration says. */
export interface PostgresAddress {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string | undefined;
  readonly database: string;
  /** Matches `[a-z_][a-z0-9_]{0,62}`; each tenant has its own. */
  readonly schema: string;
  /** The address asks for TLS. */
  readonly tls: boolean;
}

const defaultPort = 5432;
const defaultSchema = 'postern';

const addressPattern =
  /^postgres(?:ql)?:\/\/(?:([^@/]*)@)?(?:\[([^\]]+)\]|([^@/:?]+))(?::(\d+))?(?:\/([^?#]*))?(?:\?([^#]*))?$/;
const schemaPattern = /^(?!pg_)[a-z_][a-z0-9_]{0,62}$/;

/** Values of libpq's `sslmode`; with TLS the server's certificate is always verified. */
const tlsModes: Readonly<Record<string, boolean>> = {
  disable: false,
  require: true,
  'verify-full': true,
};

/** Whether an address names a records store in PostgreSQL. */
export function isPostgresAddress(address: string): boolean {
  return /^postgres(?:ql)?:\/\//.test(address);
}

/**
 * Parses `postgres://USER:PASSWORD@HOST:PORT/DATABASE?schema=NAME&sslmode=MODE`; all but HOST may be left out: user
 * `postgres`, port 5432, the database named like the user, schema `postern`. User, password and database are
 * percent-decoded. Throws a TypeError, whose message never holds the address, for anything else.
 */
export function parsePostgresAddress(address: string): PostgresAddress {
  const parts = addressPattern.exec(address);
  if (parts === null) throw new TypeError('must be postgres://USER:PASSWORD@HOST:PORT/DATABASE?schema=NAME');
  const [, userinfo = '', ipv6, host, port, path = '', query = ''] = parts;
  const colon = userinfo.indexOf(':');
  const user = decode(colon < 0 ? userinfo : userinfo.slice(0, colon)) || 'postgres';
  return {
    host: ipv6 ?? host!,
    port: Number(port ?? defaultPort),
    user,
    password: colon < 0 ? undefined : decode(userinfo.slice(colon + 1)),
    database: decode(path) || user,
    ...parseQuery(query),
  };
}

/** The address without user and password, for messages. */
export function describeAddress({ host, port, database, schema }: PostgresAddress): string {
  const authority = host.includes(':') ? `[${host}]` : host;
  return `postgres://${authority}:${port}/${encodeURIComponent(database)}?schema=${schema}`;
}

function parseQuery(query: string): Pick<PostgresAddress, 'schema' | 'tls'> {
  let schema = defaultSchema;
  let tls: boolean | undefined = false;
  for (const [name, value] of new URLSearchParams(query)) {
    if (name === 'schema') schema = value;
    else if (name === 'sslmode') tls = tlsModes[value];
    else throw new TypeError('must have no query parameters but schema and sslmode');
  }
  if (!schemaPattern.test(schema))
    throw new TypeError(
      'must have a schema of at most 63 of a-z, 0-9 and _, not starting with a digit or pg_',
    );
  if (tls === undefined) throw new TypeError(`must have an sslmode of ${Object.keys(tlsModes).join(', ')}`);
  return { schema, tls };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new TypeError('must have user, password and database percent-encoded');
  }
}
