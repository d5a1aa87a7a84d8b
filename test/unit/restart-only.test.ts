import { randomBytes } from 'node:crypto';
import { copyFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { stringify } from 'yaml';
import { readStoreFiles } from '../../src/config/configured-files.ts';
import { loadConfig } from '../../src/config/load.ts';
import { rememberStart } from '../../src/serve/restart-only.ts';
import { testConfig } from '../support/gateway/gateway.ts';
import { makeCertificate } from '../support/servers/certificates.ts';

t.test('a change of a store file’s content needs a restart, a change of its name does not', async (t) => {
  const { cert, key } = makeCertificate(t.testdir(), 'a', ['DNS:localhost']);
  const bytes = { 'a.key': randomBytes(32), 'b.key': randomBytes(32) };
  const pems = { 'ca.pem': String(cert), 'cert.pem': String(cert), 'key.pem': String(key) };
  const folder = t.testdir({ ...pems, ...bytes });
  const file = join(folder, 'postern.yaml');
  const stores = {
    records: 'postgres://postern@localhost/postern',
    records_tls: { ca: 'ca.pem', cert: 'cert.pem', key: 'key.pem' },
    records_encryption: {
      keys: [
        { id: 'a', file: 'a.key' },
        { id: 'b', file: 'b.key' },
      ],
    },
    sessions: 'rediss://localhost',
    sessions_tls: { ca: 'ca.pem' },
  };
  writeFileSync(file, stringify(testConfig('http://127.0.0.1:1', { stores })));
  const config = loadConfig(file, {}).config!;
  const whatNeedsRestart = rememberStart(readStoreFiles(config));
  t.strictSame(whatNeedsRestart(config, config).keys, []);

  writeFileSync(join(folder, 'key.pem'), 'renewed');
  t.strictSame(whatNeedsRestart(config, config).keys, ['stores.records_tls']);
  writeFileSync(join(folder, 'ca.pem'), 'renewed');
  t.strictSame(whatNeedsRestart(config, config).keys, ['stores.records_tls', 'stores.sessions_tls']);

  for (const name of ['a.key', 'b.key']) {
    writeFileSync(join(folder, name), randomBytes(32));
    const { keys } = whatNeedsRestart(config, config);
    t.strictSame(keys, ['stores.records_tls', 'stores.records_encryption', 'stores.sessions_tls'], name);
    rmSync(join(folder, name));
    t.ok(whatNeedsRestart(config, config).keys.includes('stores.records_encryption'), `${name} is gone`);
    writeFileSync(join(folder, name), bytes[name as keyof typeof bytes]);
  }

  for (const [name, pem] of Object.entries(pems)) writeFileSync(join(folder, name), pem);
  t.strictSame(whatNeedsRestart(config, config).keys, [], 'put back');
  copyFileSync(join(folder, 'cert.pem'), join(folder, 'key.pem'));
  t.strictSame(whatNeedsRestart(config, config).keys, ['stores.records_tls']);
});
