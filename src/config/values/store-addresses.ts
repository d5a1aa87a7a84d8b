import { type PostgresAddress, readPostgresAddress } from './postgres-address.ts';
import { type RedisAddress, readRedisAddress } from './redis-address.ts';

/** The address of a store in a file. */
export interface SqliteAddress {
  readonly kind: 'sqlite';
  /** As written; absolute once the configuration is loaded. */
  readonly path: string;
}

/** The address of a records store. */
export type RecordsAddress = SqliteAddress | PostgresAddress;

/** The address of a session store. */
export type SessionsAddress = SqliteAddress | RedisAddress;

// A store in memory would be out of reach for commands, and //HOST/PATH isn't a path.
const sqlitePattern = /^sqlite:((?!:memory:$)(?!\/\/)[^\s\0][^\0]*)$/;

/** Parses the address of a records store. Throws a RangeError, whose message is the rule, for anything else. */
export function parseRecordsAddress(text: string): RecordsAddress {
  const address = parseSqliteAddress(text) ?? readPostgresAddress(text);
  if (address === undefined)
    throw new RangeError(
      'must be sqlite:PATH or postgres://HOST/DATABASE, optionally with ?schema=NAME or ?sslmode=require',
    );
  return address;
}

/** Parses the address of a session store. Throws a RangeError, whose message is the rule, for anything else. */
export function parseSessionsAddress(text: string): SessionsAddress {
  const address = parseSqliteAddress(text) ?? readRedisAddress(text);
  if (address === undefined)
    throw new RangeError(
      'must be sqlite:PATH, redis://HOST, rediss://HOST, redis+sentinel://HOST,HOST/NAME, redis+cluster://HOST,HOST or redis+unix:PATH',
    );
  return address;
}

function parseSqliteAddress(text: string): SqliteAddress | undefined {
  const [, path] = sqlitePattern.exec(text) ?? [];
  return path === undefined ? undefined : { kind: 'sqlite', path };
}
