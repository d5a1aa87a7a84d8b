import { describeAddress } from '../../config/values/postgres-address.ts';
import type { CopyEnd, Row } from '../sql/copy.ts';
import { createClientConfig, type PostgresAccess } from './client-config.ts';
import { withStoreName } from './failures.ts';
import { migratePostgres, requireMigrated } from './migrate.ts';
import { SessionPool } from './pool.ts';
import { beginSnapshot, beginWrite, inTransaction } from './transaction.ts';

/** Timeouts of a statement and of the whole copy, ms. */
const statementTimeoutMs = 60_000;
const copyTimeoutMs = 60 * 60_000;

/**
 * Opens the records in a schema to copy from them; read access is enough. Rejects as {@link withStoreName} does; `key` is the
 * configuration key or the option that has the address.
 */
export async function openPostgresCopySource(access: PostgresAccess, key: string): Promise<CopyEnd> {
  await withStoreName(key, access.address, () => requireMigrated(access));
  return createCopyEnd(access, key, beginSnapshot);
}

/**
 * Opens a schema to copy records into it, and creates and migrates it as needed. `key` and errors are as for
 * {@link openPostgresCopySource}.
 */
export async function openPostgresCopyTarget(access: PostgresAccess, key: string): Promise<CopyEnd> {
  await withStoreName(key, access.address, () => migratePostgres(access));
  return createCopyEnd(access, key, beginWrite);
}

function createCopyEnd(access: PostgresAccess, key: string, begin: string): CopyEnd {
  const config = createClientConfig(access, statementTimeoutMs);
  const pool = new SessionPool({ config, max: 1, timeoutMs: copyTimeoutMs, epoch: { current: 0 } });
  return {
    location: describeAddress(access.address),
    transaction: (work) =>
      withStoreName(key, access.address, () =>
        pool.use((session) =>
          inTransaction(session, begin, async () => {
            const result = await work(
              async (sql, values) => (await session.query(sql, values)) as readonly Row[],
            );
            await session.execute('COMMIT');
            return result;
          }),
        ),
      ),
    close: () => pool.close(),
  };
}
