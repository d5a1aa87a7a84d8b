import { openPostgresRecords } from '../../../src/stores/postgres/records.ts';
import { createSqliteRecords } from '../../../src/stores/sqlite/records.ts';
import { dueTurn } from '../gateway/due-turn.ts';
import { postgresAddress } from '../stores/store-addresses.ts';

/** Does what is due in the keys of a store, whose file or address is the first argument, at the time of the second. */
const [, , store = '', time = ''] = process.argv;
const now = () => Number(time);
const limits = { maxConnections: 2, timeoutMs: 10_000 };
const records = store.startsWith('postgres:')
  ? await openPostgresRecords({ access: { address: postgresAddress(store) }, now, ...limits })
  : createSqliteRecords(store, { now });
await records.turnSigningKeys(...dueTurn(null));
await records.close();
