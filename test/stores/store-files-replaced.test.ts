import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import t from 'tap';
import { temporaryFolder } from '../contract/sqlite-stores.ts';
import { makeCertificate } from '../support/servers/certificates.ts';
import { requirePostgres } from '../support/stores/postgres-programs.ts';
import { startPostgres } from '../support/stores/postgres-server.ts';
import { requireRedis, startRedis } from '../support/stores/redis-server.ts';
import { judgeReplacedFile, type StoreFile } from '../support/stores/store-files.ts';

if (requirePostgres(t) && requireRedis(t)) {
  const folder = temporaryFolder(t);
  const tls = makeCertificate(folder, 'servers', ['IP:127.0.0.1']);
  const other = readFileSync(makeCertificate(folder, 'other', ['IP:127.0.0.1']).certFile);
  const authority = readFileSync(tls.certFile);
  const ca = tls.certFile;
  const postgres = await startPostgres(t, { tls });
  const redis = await startRedis(t, {
    tls,
    users: ['postern on >sesame ~* &* +@all'],
  });
  let schemas = 0;
  const servers = () => {
    schemas += 1;
    const records = `${postgres.url}?schema=replaced_${schemas}`;
    return { records, records_tls: { ca }, sessions: redis.url, sessions_tls: { ca } };
  };

  const files: Readonly<Record<string, () => StoreFile>> = {
    'a key of the records': () => {
      const stores = servers();
      return {
        stores: (file) => ({ ...stores, records_encryption: { keys: [{ id: 'k1', file }] } }),
        content: randomBytes(32),
        replacement: randomBytes(32),
        key: 'stores.records_encryption',
      };
    },
    'the authority of the records’ server': () => {
      const stores = servers();
      return {
        stores: (file) => ({ ...stores, records_tls: { ca: file } }),
        content: authority,
        replacement: other,
        key: 'stores.records_tls',
      };
    },
    'the authority of the sessions’ server': () => {
      const stores = servers();
      return {
        stores: (file) => ({ ...stores, sessions_tls: { ca: file } }),
        content: authority,
        replacement: other,
        key: 'stores.sessions_tls',
      };
    },
    'the password of the records': () => {
      const { records, ...stores } = servers();
      return {
        stores: (file) => ({
          ...stores,
          records: records.replace(':secret@', '@'),
          records_password: { file },
        }),
        content: 'secret\n',
        replacement: 'another password\n',
        key: 'stores',
      };
    },
    'the password of the sessions': () => {
      const stores = servers();
      return {
        stores: (file) => ({ ...stores, sessions_username: 'postern', sessions_password: { file } }),
        content: 'sesame\n',
        replacement: 'another password\n',
        key: 'stores',
      };
    },
  };

  for (const [name, file] of Object.entries(files))
    t.test(`${name} is replaced: it needs a restart, and workers keep the first one`, (t) =>
      judgeReplacedFile(t, file(), 2),
    );
}
