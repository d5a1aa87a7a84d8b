import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import t from 'tap';
import { stringify } from 'yaml';
import { type CommandFolder, createCommandFolder } from '../support/gateway/command.ts';
import { testConfig } from '../support/gateway/gateway.ts';

const password = 'correct horse battery staple';
const stores = { records: 'sqlite:records.db', sessions: 'sqlite:sessions.db' };

/** Has the folder's configuration name these keys, each by its file. */
function configure({ configFile }: CommandFolder, ids: readonly string[]): void {
  const keys = ids.map((id) => ({ id, file: `${id}.key` }));
  const encryption = ids.length === 0 ? {} : { records_encryption: { keys } };
  writeFileSync(configFile, stringify(testConfig('builtin:echo', { stores: { ...stores, ...encryption } })));
}

/** The private keys and secrets in plain text, with every spelling that they are searched by. */
function privateBytes(folder: string): readonly Buffer[] {
  const db = new Database(join(folder, 'records.db'), { readonly: true });
  const keys = db.prepare('SELECT private_jwk FROM signing_keys').pluck().all() as string[];
  const secrets = db.prepare("SELECT value FROM secrets WHERE name <> 'tenant'").pluck().all() as Buffer[];
  db.close();
  const texts = keys.map((key) => JSON.parse(key)).map(({ d, k }) => (d ?? k) as string);
  return [
    ...texts.map((text) => Buffer.from(text)),
    ...texts.map((text) => Buffer.from(text, 'base64url')),
    ...secrets,
  ];
}

function countIn(file: string, searched: readonly Buffer[]): number {
  const content = existsSync(file) ? readFileSync(file) : Buffer.of();
  return searched.filter((bytes) => content.includes(bytes)).length;
}

t.test('encryption is turned on, and its key replaced, under everything that is signed in', async (t) => {
  const folder = createCommandFolder(t);
  for (const id of ['k1', 'k2']) writeFileSync(join(folder.folder, `${id}.key`), randomBytes(32));
  configure(folder, []);
  await folder.run(['user', 'add', 'ada', '--scopes', 'store:read'], { input: `${password}\n` });
  const first = await folder.serve();
  const { accessToken, cookie } = await first.api.signIn('ada', password);
  const searched = privateBytes(folder.folder);
  t.ok(searched.length >= 5);
  const files = ['records.db', 'records.db-wal'].map((name) => join(folder.folder, name));
  t.ok(
    files.some((file) => countIn(file, searched) > 0),
    'in plain text before',
  );
  first.child.kill('SIGTERM');
  await first.ended;

  for (const ids of [['k1'], ['k1', 'k2'], ['k2', 'k1'], ['k2']]) {
    configure(folder, ids);
    const next = await folder.serve();
    for (const file of files) t.equal(countIn(file, searched), 0, `${file} with ${ids}`);
    t.equal((await next.api.send({ path: '/api/store/x', bearer: accessToken })).status, 200);
    t.equal((await next.api.refresh(cookie)).status, 200);
    const copy = join(folder.folder, `backup-${ids.join('-')}.db`);
    t.match(await folder.run(['backup', copy]), { code: 0 });
    t.equal(countIn(copy, searched), 0, 'the backup is encrypted, too');
    next.child.kill('SIGTERM');
    await next.ended;
  }

  const copied = join(folder.folder, 'copied.db');
  t.match(await folder.run(['records', 'copy', '--to', `sqlite:${copied}`]), { code: 0 });
  t.equal(countIn(copied, searched), 0, 'a copy is encrypted, too');

  t.test('a wrong or missing key stops the start with a sentence', async (t) => {
    configure(folder, ['k1']);
    t.match(await folder.run(['serve']), {
      code: 1,
      stderr:
        /records\.db: holds a \S+ key \(\S+\) that is encrypted with the key "k2", which stores\.records_encryption doesn't have/,
    });
    configure(folder, []);
    t.match(await folder.run(['user', 'list']), { code: 1, stderr: /is encrypted with the key "k2"/ });
    configure(folder, ['k2']);
    writeFileSync(join(folder.folder, 'k2.key'), randomBytes(32));
    t.match(await folder.run(['user', 'list']), {
      code: 1,
      stderr: /can't be decrypted with the key "k2" of stores\.records_encryption/,
    });
    writeFileSync(join(folder.folder, 'k2.key'), randomBytes(31));
    t.match(await folder.run(['check']), {
      code: 2,
      stderr: /^\S+:\d+:\d+: stores\.records_encryption\.keys\[0\]\.file: must hold 32 bytes; it has 31/,
    });
  });
});
