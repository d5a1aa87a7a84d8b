import t, { type Test } from 'tap';
import { type ClusterObject, install } from './cluster.ts';
import { leastValues, render, requireHelm, theOnly } from './helm.ts';

function checksumsOf(values: object): Record<string, string> {
  return theOnly(render(values), 'Deployment').spec.template.metadata.annotations;
}

function withConfig(config: object, values: object = {}): object {
  return { ...leastValues, ...values, config: { ...leastValues.config, ...config } };
}

/** The checksums of an installation where that is under the name `acme`. */
async function checksumsWith(
  t: Test,
  values: object,
  object: ClusterObject,
): Promise<Record<string, string>> {
  const manifests = await install(t, { ...leastValues, ...values }, [object]);
  return theOnly(manifests, 'Deployment').spec.template.metadata.annotations;
}

t.test('checksums in the pod', async (t) => {
  if (!requireHelm(t)) return;
  const token = 'a token that is long enough';
  const secret = (value: string) => ({ secrets: { bootstrapToken: { value } } });

  t.test('pods roll when the configuration or a secret changes, and for nothing else', async (t) => {
    const before = checksumsOf(withConfig({}, secret(token)));
    t.strictSame(checksumsOf(withConfig({}, { ...secret(token), podLabels: { a: 'b' } })), before);
    const config = checksumsOf(withConfig({ tenant: 'other' }, secret(token)));
    t.not(config['checksum/config'], before['checksum/config']);
    t.equal(config['checksum/secret'], before['checksum/secret']);
    const secrets = checksumsOf(withConfig({}, secret('another that is long enough')));
    t.equal(secrets['checksum/config'], before['checksum/config']);
    t.not(secrets['checksum/secret'], before['checksum/secret']);
  });

  t.test('… and when another Secret or ConfigMap is named', async (t) => {
    const named = (existingSecret: string) =>
      checksumsOf(withConfig({}, { secrets: { bootstrapToken: { existingSecret } } }))['checksum/secret'];
    t.not(named('one'), named('two'));
    const config = (values: object) => checksumsOf({ ...leastValues, ...values })['checksum/config'];
    t.not(config({ existingConfig: 'one' }), config({ existingConfig: 'two' }));
    t.not(config({ existingConfig: 'one' }), config({ existingConfig: 'one', existingConfigKey: 'other' }));
    t.equal(
      config({ existingConfig: 'one' }),
      config({ existingConfig: 'one', config: { ...leastValues.config, tenant: 'b' } }),
      'the values are not what is served',
    );
  });

  t.test('the version of an existing Secret counts, and not its content', async (t) => {
    const values = { secrets: { bootstrapToken: { existingSecret: 'acme', key: 'key' } } };
    const found = async (uid: string, resourceVersion: string, key: string) => {
      const metadata = { name: 'acme', uid, resourceVersion };
      const secret: ClusterObject = { kind: 'Secret', metadata, data: { key: btoa(key) } };
      return (await checksumsWith(t, values, secret))['checksum/secret'];
    };
    const before = await found('a', '1', 'hunter2');
    t.equal(await found('a', '1', 'hunter3'), before);
    t.not(await found('a', '2', 'hunter2'), before);
    t.not(await found('b', '1', 'hunter2'), before);
    t.not(checksumsOf({ ...leastValues, ...values })['checksum/secret'], before, 'where there is none');
  });

  t.test('the file of an existing ConfigMap counts', async (t) => {
    const found = async (data: ClusterObject['data'], more: object = {}) => {
      const file: ClusterObject = { kind: 'ConfigMap', metadata: { name: 'acme' }, data };
      return (await checksumsWith(t, { existingConfig: 'acme', ...more }, file))['checksum/config'];
    };
    const before = await found({ 'postern.yaml': 'tenant: a', other: 'b' });
    t.equal(await found({ 'postern.yaml': 'tenant: a', other: 'c' }), before);
    t.not(await found({ 'postern.yaml': 'tenant: b', other: 'b' }), before);
    const another = { existingConfigKey: 'other' };
    t.not(await found({ other: 'b' }, another), await found({ other: 'c' }, another));
  });

  t.test('the same value looks different in another namespace: nobody has a table of them', async (t) => {
    const inside = (namespace: string) =>
      theOnly(
        render({ ...leastValues, ...secret(token) }, { args: ['--namespace', namespace] }),
        'Deployment',
      ).spec.template.metadata.annotations['checksum/secret'];
    t.equal(inside('one'), inside('one'));
    t.not(inside('one'), inside('two'));
  });
});
