import { readFileSync } from 'node:fs';
import t, { type Test } from 'tap';
import { parse } from 'yaml';
import { type ClusterObject, install } from './cluster.ts';
import { render, requireHelm, theOnly } from './helm.ts';

const values: any = parse(readFileSync('helm/ci/gateway-production-values.yaml', 'utf8'));
const fixed = { ...values, autoscaling: { enabled: false } };

/** The Deployment of a release where one of that many pods serves already. */
async function deploymentBeside(t: Test, replicas: number, own: object, name = 'shop-postern') {
  const metadata = { name };
  const there = { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec: { replicas } } as ClusterObject;
  return theOnly(await install(t, own, [there]), 'Deployment').spec;
}

t.test('the Deployment has the right number of pods', async (t) => {
  if (!requireHelm(t)) return;

  t.test('with an autoscaler, as many as there were', async (t) => {
    t.equal((await deploymentBeside(t, 7, values)).replicas, 7);
    t.equal((await deploymentBeside(t, 0, values)).replicas, 0, 'none, while they are stopped for a restore');
  });

  t.test('without one, as many as the values say', async (t) => {
    t.equal((await deploymentBeside(t, 7, fixed)).replicas, 3);
    t.equal(theOnly(render(fixed), 'Deployment').spec.replicas, 3);
  });

  t.test('where there are none yet, or none can be seen, the autoscaler decides', async (t) => {
    t.notOk('replicas' in (await deploymentBeside(t, 7, values, 'other')));
    t.notOk('replicas' in theOnly(render(values), 'Deployment').spec);
    t.equal(theOnly(render(values), 'HorizontalPodAutoscaler').spec.minReplicas, 3);
  });
});
