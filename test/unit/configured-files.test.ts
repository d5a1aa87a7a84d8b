import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { stringify } from 'yaml';
import { type ConfiguredFiles, readConfiguredFiles, readFrom } from '../../src/config/configured-files.ts';
import { loadConfig } from '../../src/config/load.ts';
import { testConfig } from '../support/gateway/gateway.ts';
import { makeCertificate } from '../support/servers/certificates.ts';

function configuredIn(t: { testdir(content?: Record<string, string>): string }): {
  folder: string;
  files: ConfiguredFiles;
} {
  const { cert } = makeCertificate(t.testdir(), 'a', ['DNS:localhost']);
  const folder = t.testdir({ 'ca.pem': String(cert) });
  const file = join(folder, 'postern.yaml');
  const upstreams = { app: { url: 'https://localhost:1', tls: { ca: 'ca.pem' } } };
  writeFileSync(file, stringify(testConfig('http://127.0.0.1:1', { upstreams })));
  return { folder, files: readConfiguredFiles(loadConfig(file, {}).config!) };
}

t.test('every part gets the content that a file had when it was read', async (t) => {
  const { folder, files } = configuredIn(t);
  const path = join(folder, 'ca.pem');
  writeFileSync(path, 'replaced');
  t.match(readFrom(files)(path).toString(), /^-----BEGIN CERTIFICATE-----/);
  t.match(readFrom(structuredClone(files))(path).toString(), /^-----BEGIN/, 'in another process, too');
});

t.test('a file that has gone since the configuration was judged fails as it would on the disk', async (t) => {
  const folder = t.testdir({ 'logo.png': '' });
  const file = join(folder, 'postern.yaml');
  writeFileSync(file, stringify(testConfig('http://127.0.0.1:1')));
  const config = loadConfig(file, {}).config!;
  const logo = join(folder, 'logo.png');
  rmSync(logo);
  const files = readConfiguredFiles({ ...config, web: { logo } as never });
  t.throws(() => readFrom(files)(logo), { code: 'ENOENT', syscall: 'open', path: logo });
});

t.test('a file that the configuration does not name is not read', async (t) => {
  const { folder, files } = configuredIn(t);
  t.throws(() => readFrom(files)(join(folder, 'postern.yaml')), { code: 'ENOENT' });
});
