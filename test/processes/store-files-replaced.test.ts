import { randomBytes } from 'node:crypto';
import t from 'tap';
import { judgeReplacedFile, type StoreFile } from '../support/stores/store-files.ts';

const sqlite = { records: 'sqlite:records.db', sessions: 'sqlite:sessions.db' };

const files: Readonly<Record<string, StoreFile>> = {
  'a key of the records': {
    stores: (file) => ({ ...sqlite, records_encryption: { keys: [{ id: 'k1', file }] } }),
    content: randomBytes(32),
    replacement: randomBytes(32),
    key: 'stores.records_encryption',
  },
  'the address of the records': {
    stores: (file) => ({ ...sqlite, records: { file } }),
    content: 'sqlite:records.db',
    replacement: 'sqlite:elsewhere.db',
    key: 'stores',
  },
  'the address of the sessions': {
    stores: (file) => ({ ...sqlite, sessions: { file } }),
    content: 'sqlite:sessions.db',
    replacement: 'sqlite:elsewhere.db',
    key: 'stores',
  },
};

for (const [name, file] of Object.entries(files))
  for (const workers of [2, 1])
    t.test(`${name} is replaced: it needs a restart, and ${workers} workers keep the first one`, (t) =>
      judgeReplacedFile(t, file, workers),
    );
