import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { stringify } from 'yaml';
import { loadConfig } from '../../src/config/load.ts';
import { rememberStart } from '../../src/gateway/restart-only.ts';
import { makeCertificate } from '../support/certificates.ts';
import { testConfig } from '../support/gateway.ts';

t.test('what was in the files that a store was opened with counts, not their names', async (t) => {
  const { cert, key } = makeCertificate(t.testdir(), 'a', ['DNS:localhost']);
  const pems = { 'ca.pem': String(cert), 'cert.pem': String(cert), 'key.pem': String(key) };
  const folder = t.testdir(pems);
  const file = join(folder, 'postern.yaml');
  const stores = {
    records: 'postgres://postern@localhost/postern',
    records_tls: { ca: 'ca.pem', cert: 'cert.pem', key: 'key.pem' },
    sessions: 'rediss://localhost',
    sessions_tls: { ca: 'ca.pem' },
  };
  writeFileSync(file, stringify(testConfig('http://127.0.0.1:1', { stores })));
  const config = loadConfig(file, {}).config!;
  const whatNeedsRestart = rememberStart(config);
  t.strictSame(whatNeedsRestart(config, config).keys, []);

  writeFileSync(join(folder, 'key.pem'), 'renewed');
  t.strictSame(whatNeedsRestart(config, config).keys, ['stores.records_tls']);
  writeFileSync(join(folder, 'ca.pem'), 'renewed');
  t.strictSame(whatNeedsRestart(config, config).keys, ['stores.records_tls', 'stores.sessions_tls']);

  for (const [name, pem] of Object.entries(pems)) writeFileSync(join(folder, name), pem);
  t.strictSame(whatNeedsRestart(config, config).keys, [], 'put back');
  copyFileSync(join(folder, 'cert.pem'), join(folder, 'key.pem'));
  t.strictSame(whatNeedsRestart(config, config).keys, ['stores.records_tls']);
});
