import type { Test } from 'tap';
import { createApiClient } from '../support/api-client.ts';
import { eventually } from '../support/eventually.ts';
import { guessPort } from '../support/loopback-port.ts';
import { createSecretWatch } from '../support/secret-watch.ts';
import { askUntilRefused } from './asking.ts';
import type { PodEnd, RunningPod } from './pod.ts';

/** The bootstrap token of the pods. */
export const token = 'a token that is long enough';
/** The password of their first user. */
export const password = 'correct horse battery staple';

/** Where the image comes from, which is nobody's default. */
export const image = { repository: 'registry.example.com/postern' };

/** A configuration in front of one upstream, on ports of its own, and the public one of them. */
export function configOn(upstream: object | string): { port: number; config: object } {
  const [port, managementPort] = [guessPort(), guessPort()];
  const config = {
    tenant: 'acme',
    base_url: 'http://localhost:8080',
    listen: { port },
    management: { port: managementPort },
    shutdown: { delay: '1s', timeout: '10s' },
    scopes: { 'store:read': 'Read' },
    upstreams: { app: { url: upstream } },
    routes: [{ prefix: '/api', upstream: 'app' }],
  };
  return { port, config };
}

/** From the activation token to a call by key, whose response is what the service saw; gives the key. */
export async function useIt(t: Test, port: number): Promise<string> {
  const api = createApiClient(port, createSecretWatch());
  t.equal((await api.activate('admin', password, token)).status, 201);
  const { accessToken } = await api.signIn('admin', password);
  const { key } = await api.mintKey(accessToken, { label: 'a key', scopes: ['store:read'] });
  const response = await eventually('the service listens', async () => {
    const response = await api.send({ path: '/api/store', apiKey: key });
    return response.status === 200 && response;
  });
  t.match(response.json, { url: '/api/store', username: 'admin', scopes: 'store:read', tenant: 'acme' });
  t.equal((await api.send({ path: '/api/store' })).status, 401);
  return key;
}

/** Ends the pod while clients go on asking: until nobody is let in, nobody is told of it, and who was is answered. */
export async function endWhileAsked(t: Test, pod: RunningPod, port: number, key: string): Promise<PodEnd> {
  const asking = askUntilRefused(port, '/api/asked', key);
  await eventually('they ask', () => pod.postern.printed().includes('/api/asked/new-5'));
  const ended = pod.end();
  await eventually('it is out of the Service', async () => !(await pod.postern.probe('readinessProbe')));
  t.ok(await pod.postern.probe('livenessProbe'), 'alive while it drains');
  const { statuses, unanswered } = await asking;
  t.strictSame(Object.keys(statuses), ['200'], `answered alike: ${JSON.stringify(statuses)}`);
  const end = await ended;
  t.strictSame(
    unanswered.filter((path) => pod.postern.printed().includes(`${path}"`)),
    [],
    'who was let in was answered',
  );
  return end;
}
