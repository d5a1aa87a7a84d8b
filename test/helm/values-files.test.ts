import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { loadConfig } from '../../src/config/load.ts';
import { makeCertificate } from '../support/servers/certificates.ts';
import { type Manifest, render, requireHelm, runHelm, valuesFiles } from './helm.ts';
import { typeErrorsOf } from './type-check.ts';

t.test('the chart over every values file', async (t) => {
  if (!requireHelm(t)) return;
  t.ok(valuesFiles.length >= 15, `${valuesFiles.length} of them`);
  const everything: Manifest[] = [];

  for (const file of valuesFiles)
    t.test(file, async (t) => {
      const { code, stdout, stderr } = runHelm(['lint', '--strict', 'helm', '--values', file]);
      t.equal(code, 0, stdout + stderr);
      const manifests = render(file);
      everything.push(...manifests);
      const names = manifests.map(
        ({ apiVersion, kind, metadata }) => `${apiVersion} ${kind} ${metadata.name}`,
      );
      t.equal(new Set(names).size, names.length, 'no document twice');
      for (const manifest of manifests) if (manifest.kind === 'ConfigMap') passesCheck(t, manifest);
    });

  t.test('every document has the type of its kind, without a key more', async (t) => {
    t.strictSame(typeErrorsOf(everything), []);
  });

  t.test('the check sees a key that is not known, and one of a wrong type', async (t) => {
    const service = everything.find(({ kind }) => kind === 'Service')!;
    t.match(typeErrorsOf([{ ...service, spec: { ...service.spec, portz: [] } }]), [/portz/]);
    t.match(typeErrorsOf([{ ...service, spec: { ...service.spec, ports: {} } }]), [/ServicePort/]);
  });
});

/** What the gateway itself says of the file in a config map, in an environment that has what the file names. */
function passesCheck(t: Test, { data = {} }: Manifest): void {
  const text = data['postern.yaml'];
  if (text === undefined) return;
  const folder = mkdtempSync(join(tmpdir(), 'postern-config-map-'));
  try {
    writeFileSync(join(folder, 'secret'), 'a secret that is long enough for all of them');
    // The secrets' files are there in a pod alone.
    makeCertificate(folder, 'tls', ['DNS:acme.example.com']);
    writeFileSync(join(folder, 'encryption-key'), randomBytes(32));
    const mounted = text
      .replace(/\/run\/secrets\/postern\/records-encryption-\S+/g, 'encryption-key')
      .replace(/\/run\/secrets\/postern(-assertions)?\/\S+/g, 'secret')
      .replace(/\/run\/tls\/\S+\.(crt|key)/g, 'tls.$1');
    writeFileSync(join(folder, 'postern.yaml'), mounted);
    const env = { BASE_URL: 'https://acme.example.com', APP_URL: 'http://orders.shop:9000' };
    t.strictSame(
      loadConfig(join(folder, 'postern.yaml'), env).problems ?? [],
      [],
      'postern check is content',
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
