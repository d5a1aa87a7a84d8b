import { type PostgresAddress, readPostgresAddress } from './postgres-address.ts';
import { type RedisAddress, readRedisAddress } from './redis-address.ts';

/** A store in a file of this machine. */
export interface SqliteAddress {
  readonly kind: 'sqlite';
  /** As written, until the configuration makes it absolute. */
  readonly path: string;
}

/** Where the records are. */
export type RecordsAddress = SqliteAddress | PostgresAddress;

/** Where the sessions are. */
export type SessionsAddress = SqliteAddress | RedisAddress;

// A store in memory could be reached by no command, and //HOST/PATH is no path.
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
