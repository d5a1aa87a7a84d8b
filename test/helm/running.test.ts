import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { createApiClient } from '../support/api-client.ts';
import { guessPort } from '../support/loopback-port.ts';
import { requireProgram } from '../support/programs.ts';
import { createSecretWatch } from '../support/secret-watch.ts';
import { signInSlowly } from './asking.ts';
import { startContainer } from './container.ts';
import { renderExample } from './example.ts';
import { documentsIn, type Manifest, render, requireHelm } from './helm.ts';
import { runPod } from './pod.ts';
import { createProbe } from './probe.ts';
import { configOn, endWhileAsked, image, password, token, useIt } from './use-pod.ts';

const notesService = 'examples/kubernetes/chart/files/service.mjs';
const secrets = { bootstrapToken: { value: token } };

/** A container of the service made with fastify, which the kubelet asks for its health from inside. */
function fastifyOn(port: number): object {
  const ask = `fetch('http://127.0.0.1:${port}/health').then(({ ok }) => process.exit(ok ? 0 : 1))`;
  return {
    name: 'orders',
    command: ['node', 'test/helm/services/fastify.ts'],
    env: [{ name: 'PORT', value: `${port}` }],
    readinessProbe: { exec: { command: ['node', '-e', ask] }, periodSeconds: 1, timeoutSeconds: 5 },
  };
}

t.test('the pods as rendered', { jobs: 3 }, async (t) => {
  if (!requireHelm(t)) return;

  for (const native of [true, false])
    t.test(
      `fastify on loopback, Postern as ${native ? 'a native sidecar' : 'an ordinary one'}`,
      async (t) => {
        const servicePort = guessPort();
        const { port, config } = configOn(`http://127.0.0.1:${servicePort}`);
        const sidecar = { native, preStopSleepSeconds: 2, containers: [fastifyOn(servicePort)] };
        const pod = await runPod(t, render({ mode: 'sidecar', image, config, sidecar, secrets }));
        const key = await useIt(t, port);
        const slow = createApiClient(port, createSecretWatch()).send({ path: '/api/slow', apiKey: key });
        const gone = pod.container('orders').ended.then(() => sleep(500));
        const form = `username=admin&password=${encodeURIComponent(password)}`;
        const signIn = signInSlowly(port, form, gone);
        const { codes, order } = await endWhileAsked(t, pod, port, key);
        t.equal((await slow).status, 200, 'a slow answer came though the service was told to end');
        t.equal(await signIn, 200, 'a slow sign-in was answered though the service had ended');
        t.strictSame(codes, { postern: 0, orders: 0 });
        t.strictSame(order, ['orders', 'postern']);
      },
    );

  t.test('nginx on loopback, Postern as a native sidecar', async (t) => {
    if (!requireProgram(t, 'nginx')) return;
    const servicePort = guessPort();
    const { port, config } = configOn(`http://127.0.0.1:${servicePort}`);
    const nginx = {
      name: 'orders',
      command: ['/usr/sbin/nginx', '-c', '/etc/orders/nginx.conf', '-e', 'stderr'],
      volumeMounts: [
        { name: 'orders-config', mountPath: '/etc/orders' },
        { name: 'orders-tmp', mountPath: '/var/orders' },
      ],
    };
    const text = readFileSync('test/helm/services/nginx.conf', 'utf8');
    const manifests = render({
      mode: 'sidecar',
      image,
      config,
      secrets,
      sidecar: { preStopSleepSeconds: 2, containers: [nginx] },
      extraVolumes: [
        { name: 'orders-config', configMap: { name: 'orders' } },
        { name: 'orders-tmp', emptyDir: {} },
      ],
    });
    const orders: Manifest = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'orders' },
      data: { 'nginx.conf': text.replace('listen 9000', `listen 127.0.0.1:${servicePort}`) },
    };
    const pod = await runPod(t, [...manifests, orders]);
    const key = await useIt(t, port);
    t.strictSame((await endWhileAsked(t, pod, port, key)).codes, { postern: 0, orders: 0 });
  });

  t.test('the example: a service whose own chart includes the sidecar', async (t) => {
    const servicePort = guessPort();
    const { port, config } = configOn(`http://127.0.0.1:${servicePort}`);
    const postern = { config, sidecar: { preStopSleepSeconds: 2 }, secrets };
    const pod = await runPod(t, documentsIn(renderExample(t, { port: servicePort, postern })));
    t.ok(await pod.container('notes').probe('readinessProbe'), 'the service is asked where it listens');
    const byRequest = { readinessProbe: { httpGet: { path: '/', port: servicePort } } };
    const ask = createProbe(byRequest, async () => false);
    t.notOk(await ask('readinessProbe'), 'and a request to the pod’s address does not come there');
    const key = await useIt(t, port);
    t.strictSame((await endWhileAsked(t, pod, port, key)).codes, { postern: 0, notes: 0 });
  });

  t.test('a gateway before a service, with a secret that exists', async (t) => {
    const servicePort = guessPort();
    const env = [{ name: 'PORT', value: `${servicePort}` }];
    const notes = startContainer({ name: 'notes', command: ['node', notesService], env }, new Map());
    t.teardown(() => notes.kill());
    const { port, config } = configOn({ env: 'NOTES_URL' });
    const secret: Manifest = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'acme' },
      stringData: { token: `${token}\n` },
    };
    const values = {
      image,
      config,
      extraEnv: [{ name: 'NOTES_URL', value: `http://127.0.0.1:${servicePort}` }],
      secrets: { bootstrapToken: { existingSecret: 'acme', key: 'token' } },
    };
    const pod = await runPod(t, [...render(values), secret]);
    const key = await useIt(t, port);
    const { codes, seconds } = await endWhileAsked(t, pod, port, key);
    t.strictSame(codes, { postern: 0 });
    t.ok(seconds >= 1, `it went on for its delay of 1 s: ${seconds}`);
  });
});
