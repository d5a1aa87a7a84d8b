import type { PostgresAddress } from '../../../src/config/values/postgres-address.ts';
import type { RedisAddress } from '../../../src/config/values/redis-address.ts';
import { parseRecordsAddress, parseSessionsAddress } from '../../../src/config/values/store-addresses.ts';

/** Parses the address of records in PostgreSQL as the configuration does. Throws for anything else. */
export function postgresAddress(url: string): PostgresAddress {
  const address = parseRecordsAddress(url);
  if (address.kind !== 'postgres') throw new TypeError(`${url} is not in PostgreSQL`);
  return address;
}

/** Parses the address of sessions in Redis as the configuration does. Throws for anything else. */
export function redisAddress(url: string): RedisAddress {
  const address = parseSessionsAddress(url);
  if (address.kind === 'sqlite') throw new TypeError(`${url} is not in Redis`);
  return address;
}
