import { join } from 'node:path';
import t from 'tap';
import { openPostgresRecords } from '../../src/stores/postgres/records.ts';
import { startOfTime } from '../contract/fixtures.ts';
import { accessToNewSchema, openPostgresUnderTest, recordsLimits } from '../contract/postgres-stores.ts';
import { temporaryFolder } from '../contract/sqlite-stores.ts';
import { makeCertificate } from '../support/servers/certificates.ts';
import { requirePostgres } from '../support/stores/postgres-programs.ts';
import { startPostgres } from '../support/stores/postgres-server.ts';
import { postgresAddress } from '../support/stores/store-addresses.ts';

const now = () => startOfTime;

if (requirePostgres(t)) {
  const folder = temporaryFolder(t);
  const certificate = makeCertificate(folder, 'server', ['IP:127.0.0.1']);
  const other = makeCertificate(folder, 'other', ['IP:127.0.0.1']);
  const server = await startPostgres(t, { tls: certificate });
  const access = accessToNewSchema(server);

  t.test('a server is connected to over TLS, and verified', async (t) => {
    const store = await openPostgresUnderTest(t, { ...access, tls: { ca: certificate.certFile } });
    await store.ping();
    const [link] = await server.query(`SELECT bool_and(s.ssl) AS "isTls"
      FROM pg_stat_ssl s JOIN pg_stat_activity a USING (pid) WHERE a.application_name = 'postern'`);
    t.ok(link?.isTls);
  });

  t.test('a server without a certificate of a trusted authority is refused', async (t) => {
    const byAnother = { ...access, tls: { ca: other.certFile } };
    await t.rejects(openPostgresRecords({ access: byAnother, now, ...recordsLimits }), {
      code: 'store_unavailable',
    });
    const address = postgresAddress(`${server.url}?sslmode=require`);
    await t.rejects(openPostgresRecords({ access: { address }, now, ...recordsLimits }), {
      code: 'store_unavailable',
      cause: { message: /certificate/ },
    });
  });

  t.test('an unreadable file is named', async (t) => {
    const file = join(folder, 'none.pem');
    await t.rejects(
      openPostgresRecords({ access: { ...access, tls: { ca: file } }, now, ...recordsLimits }),
      {
        code: 'store_open_failed',
        message: /none\.pem/,
      },
    );
  });
}
