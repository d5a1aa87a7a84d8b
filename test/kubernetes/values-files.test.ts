import { basename } from 'node:path';
import t, { type Test } from 'tap';
import { renderText, valuesFiles } from '../helm/helm.ts';
import { command, helm, kubectl, requireNode } from './cluster/commands.ts';
import { createNamespace, objectsIn, objectsLeftIn } from './cluster/namespace.ts';
import { definitionsFolder } from './node/definitions.ts';
import { kubernetesVersion } from './node/folders.ts';

/** What the API server says of a pod that the level would not admit, and of whose container. */
const violation = /would violate PodSecurity[^\n]*/g;

async function tryOut(t: Test, file: string): Promise<void> {
  const release = basename(file, '-values.yaml');
  const namespace = `values-${release}`;
  await createNamespace(t, namespace);
  const to = ['--namespace', namespace];

  const text = renderText([release, 'helm', '--values', file, '--kube-version', kubernetesVersion, ...to]);
  const dryRun = ['apply', '--server-side', '--dry-run=server', ...to, '--filename', '-'];
  const { stderr } = await command('kubectl', dryRun, text);
  const warnings = stderr.split('\n').filter((line) => line.startsWith('Warning:'));
  t.strictSame(
    warnings.filter((line) => !line.match(violation)),
    [],
    'no warning but of Pod Security',
  );
  // Of containers that are not the chart's; those of the service say nothing of how they run.
  for (const [text] of stderr.matchAll(violation)) t.notMatch(text, /"postern"|"test"|pod must not/, text);

  await helm('install', release, 'helm', '--values', file, ...to);
  t.ok((await objectsIn(namespace)).length >= 4, 'it has made what it should');
  const { stdout } = await helm('uninstall', release, ...to);
  const kept = [...stdout.matchAll(/\[PersistentVolumeClaim\] (\S+)/g)].map(([, name]) => name);
  const left = await objectsLeftIn(namespace);
  t.strictSame(
    left,
    kept.map((name) => `persistentvolumeclaim/${name}`),
    `what is left: ${left.join(', ') || 'nothing'}`,
  );
  t.strictSame(
    kept.filter((name) => !text.includes(`name: ${name}`)),
    [],
    'the volume, if it has one, is kept',
  );
}

t.test('every values file is accepted, installed, and leaves nothing but its volume', async (t) => {
  if (!requireNode(t)) return;
  await kubectl('apply', '--server-side', '--filename', definitionsFolder);
  await kubectl('wait', '--for=condition=Established', 'crd', '--all', '--timeout=60s');
  for (const file of valuesFiles) await t.test(file, (t) => tryOut(t, file));
});
