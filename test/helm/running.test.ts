import { once } from 'node:events';
import t, { type Test } from 'tap';
import { createApiClient } from '../support/api-client.ts';
import { eventually } from '../support/eventually.ts';
import { guessPort } from '../support/loopback-port.ts';
import { createSecretWatch } from '../support/secret-watch.ts';
import { startContainer } from './container.ts';
import { renderExample } from './example.ts';
import { documentsIn, type Manifest, render, requireHelm } from './helm.ts';
import { type RunningPod, runPod } from './pod.ts';

const token = 'a token that is long enough';
const password = 'correct horse battery staple';
const service = 'examples/kubernetes/chart/files/service.mjs';

/** Values of a pod on ports of its own, and those ports. */
function valuesOn(upstream: object | string, more: object = {}) {
  const [port, managementPort] = [guessPort(), guessPort()];
  const config = {
    tenant: 'acme',
    base_url: 'http://localhost:8080',
    listen: { port },
    management: { port: managementPort },
    shutdown: { delay: '1s', timeout: '2s' },
    scopes: { 'store:read': 'Read' },
    upstreams: { app: { url: upstream } },
    routes: [{ prefix: '/api', upstream: 'app' }],
  };
  return { port, values: { config, ...more } };
}

/** From the activation token to a call by key, whose answer is what the service saw. */
async function useIt(t: Test, port: number): Promise<void> {
  const api = createApiClient(port, createSecretWatch());
  t.equal((await api.activate('admin', password, token)).status, 201);
  const { accessToken } = await api.signIn('admin', password);
  const { key } = await api.mintKey(accessToken, { label: 'a key', scopes: ['store:read'] });
  const answer = await eventually('the service listens', async () => {
    const answer = await api.send({ path: '/api/store', apiKey: key });
    return answer.status === 200 && answer;
  });
  t.match(answer.json, { url: '/api/store', username: 'admin', scopes: 'store:read', tenant: 'acme' });
  t.equal((await api.send({ path: '/api/store' })).status, 401);
}

/** Ends the pod, while Postern drains as its readiness probe says and still lets requests in. */
async function endWhileAsked(t: Test, pod: RunningPod, port: number) {
  const ended = pod.end();
  await eventually('it is out of the Service', async () => !(await pod.postern.probe('readinessProbe')));
  t.ok(await pod.postern.probe('livenessProbe'), 'alive while it drains');
  t.equal(
    (await createApiClient(port, createSecretWatch()).send({ path: '/api/store' })).status,
    401,
    'serves',
  );
  return ended;
}

const native = { mode: 'sidecar', sidecar: { native: true } };
const ordinary = { mode: 'sidecar', sidecar: { native: false } };

t.test('the pods as rendered', { jobs: 3 }, async (t) => {
  if (!requireHelm(t)) return;

  for (const { mode, sidecar } of [native, ordinary])
    t.test(
      `a service on loopback with Postern as ${sidecar.native ? 'a native sidecar' : 'an ordinary one'}`,
      async (t) => {
        const servicePort = guessPort();
        const { port, values } = valuesOn(`http://127.0.0.1:${servicePort}`, {
          mode,
          sidecar: {
            ...sidecar,
            preStopSleepSeconds: 2,
            containers: [
              { name: 'notes', command: ['node', service], env: [{ name: 'PORT', value: `${servicePort}` }] },
            ],
          },
          secrets: { bootstrapToken: { value: token } },
        });
        const pod = await runPod(t, render(values));
        await useIt(t, port);
        const { codes, order } = sidecar.native ? await pod.end() : await endWhileAsked(t, pod, port);
        t.strictSame(codes, { postern: 0, notes: 0 });
        if (sidecar.native)
          t.strictSame(order, ['notes', 'postern'], 'Postern is there for as long as the service');
      },
    );

  t.test('the example: a service whose own chart includes the sidecar', async (t) => {
    const servicePort = guessPort();
    const { port, values } = valuesOn(`http://127.0.0.1:${servicePort}`, {
      sidecar: { preStopSleepSeconds: 1 },
      secrets: { bootstrapToken: { value: token } },
    });
    const pod = await runPod(t, documentsIn(renderExample(t, { port: servicePort, postern: values })));
    await useIt(t, port);
    const { codes, order } = await pod.end();
    t.strictSame(codes, { postern: 0, notes: 0 });
    t.strictSame(order, ['notes', 'postern']);
  });

  t.test('a gateway before a service, with a secret that exists', async (t) => {
    const servicePort = guessPort();
    const notes = startContainer(
      { name: 'notes', command: ['node', service], env: [{ name: 'PORT', value: `${servicePort}` }] },
      new Map(),
    );
    t.teardown(() => notes.child.kill('SIGKILL'));
    await once(notes.child, 'spawn');
    const { port, values } = valuesOn({ env: 'NOTES_URL' } as object, {
      extraEnv: [{ name: 'NOTES_URL', value: `http://127.0.0.1:${servicePort}` }],
      secrets: { bootstrapToken: { existingSecret: 'acme', key: 'token' } },
    });
    const secret: Manifest = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'acme' },
      stringData: { token: `${token}\n` },
    };
    const pod = await runPod(t, [...render(values), secret]);
    await useIt(t, port);
    const { codes, seconds } = await endWhileAsked(t, pod, port);
    t.strictSame(codes, { postern: 0 });
    t.ok(seconds >= 1, `it went on for its delay of 1 s: ${seconds}`);
  });
});
