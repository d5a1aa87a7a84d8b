import { eventually } from '../../support/eventually.ts';
import type { TestScope } from '../../support/gateway/gateway.ts';
import { apply, get, kubectl } from './commands.ts';

/** What the controllers make in every namespace, or make of something else. */
const ofControllers = /^(?:configmap\/kube-root-ca\.crt|serviceaccount\/default|event.*|endpoint.*|lease.*)$/;

/**
 * The longest `terminationGracePeriodSeconds` of helm/ci. A container takes all of it that was told to end before its
 * process 1 listened for that.
 */
const longestGraceMs = 130_000;

let kinds: string | undefined;

/**
 * Creates a namespace that admits only pods of the Pod Security level `restricted`, once another test's of that name has
 * gone; deleted at the end of the test.
 */
export async function createNamespace(t: TestScope, name: string, level = 'restricted'): Promise<void> {
  await kubectl('wait', '--for=delete', `namespace/${name}`, '--timeout=120s');
  const labels = {
    'pod-security.kubernetes.io/enforce': level,
    'pod-security.kubernetes.io/warn': 'restricted',
  };
  await apply('default', [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } }]);
  t.teardown(() => kubectl('delete', 'namespace', name, '--wait=false'));
}

/** The objects in it that someone made, as `kind/name`. */
export async function objectsIn(namespace: string): Promise<string[]> {
  kinds ??= (await kubectl('api-resources', '--verbs=list', '--namespaced', '--output=name'))
    .trim()
    .replaceAll('\n', ',');
  const listed = await kubectl('get', kinds, '--namespace', namespace, '--output=name', '--ignore-not-found');
  return listed.split('\n').filter((name) => name !== '' && !ofControllers.test(name));
}

/** Waits until no pod is left of what was deleted, and gives the objects that are. */
export async function objectsLeftIn(namespace: string): Promise<string[]> {
  const look = async () => {
    const objects = await objectsIn(namespace);
    return !objects.some((name) => /^(?:pod|replicaset)/.test(name)) && objects;
  };
  return eventually('no pod is left', look, longestGraceMs + 20_000);
}

/** The address of a Service in the cluster. */
export async function addressOf(namespace: string, service: string): Promise<string> {
  return (await get('service', service, '--namespace', namespace)).spec.clusterIP;
}

/** The pods with that label that are not ending. */
export async function podsOf(namespace: string, selector: string): Promise<any[]> {
  const { items } = await get('pods', '--namespace', namespace, '--selector', selector);
  return items.filter(({ metadata }: any) => metadata.deletionTimestamp === undefined);
}
