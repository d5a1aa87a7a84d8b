import t from 'tap';
import { openPostgresRecords } from '../../src/stores/postgres/records.ts';
import { recordsTables } from '../../src/stores/sql/tables.ts';
import { startOfTime } from '../contract/fixtures.ts';
import { accessToNewSchema, recordsLimits } from '../contract/postgres-stores.ts';
import { runSealedSuite } from '../contract/sealed-suite.ts';
import { requirePostgres } from '../support/stores/postgres-programs.ts';
import { startPostgres } from '../support/stores/postgres-server.ts';

if (requirePostgres(t)) {
  const server = await startPostgres(t);
  runSealedSuite('postgres', async () => {
    const access = accessToNewSchema(server);
    return {
      open: (seals) =>
        openPostgresRecords({ access, now: () => startOfTime, ...recordsLimits, ...(seals && { seals }) }),
      async dump() {
        const rows = [];
        for (const { name } of recordsTables)
          rows.push(
            await server.query(
              `SELECT array_agg(row_to_json(t)::text) FROM ${access.address.schema}.${name} t`,
            ),
          );
        return Buffer.from(JSON.stringify(rows));
      },
    };
  });
}
