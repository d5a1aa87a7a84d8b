import { once } from 'node:events';
import { Agent, type IncomingMessage, request as requestHttp } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { eventually } from '../support/eventually.ts';
import {
  type GatewayUnderLoad,
  isLong,
  startGatewayUnderLoad,
} from '../support/gateway/gateway-under-load.ts';
import { openDescriptors } from '../support/gateway/process-usage.ts';
import { startHttpUpstream } from '../support/servers/http-upstream.ts';

const requestsPerSecond = isLong ? 500 : 100;
const downloadMs = isLong ? 10_000 : 1_000;
const reloadCount = isLong ? 100 : 6;
const routes = [{ prefix: '/api', upstream: 'app' }];

t.setTimeout(isLong ? 300_000 : 60_000);

/** A service whose downloads take `downloadMs`, in ten pieces. */
function startService(t: Test) {
  return startHttpUpstream(t, async (request, response) => {
    if (request.url !== '/api/download') return void response.end('small');
    for (let piece = 0; piece < 10; piece++) {
      response.write('x'.repeat(10_000));
      await sleep(downloadMs / 10);
    }
    response.end();
  });
}

/** Every request sent, and its outcome. */
class Load {
  readonly outcomes = new Map<string, number>();
  sent = 0;
  readonly #gateway: GatewayUnderLoad;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64 });
  readonly #underway = new Set<Promise<void>>();
  #isOver = false;

  constructor(gateway: GatewayUnderLoad) {
    this.#gateway = gateway;
  }

  /** Asks so often a second until it is stopped, every fiftieth time for a download. */
  async run(): Promise<void> {
    const started = performance.now();
    for (let count = 0; !this.#isOver; count++) {
      const due = started + (count * 1_000) / requestsPerSecond;
      if (due > performance.now()) await sleep(due - performance.now());
      this.#start(count % 50 === 0 ? '/api/download' : '/api/small');
    }
  }

  #start(path: string): void {
    this.sent++;
    const request = this.#ask(path)
      .catch((error: NodeJS.ErrnoException) => this.#count(String(error.code ?? error.message)))
      .finally(() => this.#underway.delete(request));
    this.#underway.add(request);
  }

  async #ask(path: string): Promise<void> {
    const { port, key } = this.#gateway;
    const isDownload = path === '/api/download';
    const sent = requestHttp({
      port,
      path,
      headers: { 'x-api-key': key },
      // A download must not hold up the other requests.
      agent: isDownload ? false : this.#agent,
    }).end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    let length = 0;
    for await (const chunk of response) length += (chunk as Buffer).length;
    const isWhole = length === (isDownload ? 100_000 : 5);
    this.#count(response.statusCode === 200 && isWhole ? 'whole' : `${response.statusCode}, ${length} bytes`);
  }

  #count(outcome: string): void {
    this.outcomes.set(outcome, (this.outcomes.get(outcome) ?? 0) + 1);
  }

  stop(): void {
    this.#isOver = true;
  }

  async settled(): Promise<void> {
    await Promise.all(this.#underway);
    this.#agent.destroy();
  }
}

t.test('SIGTERM loses no request that was admitted', async (t) => {
  const service = await startService(t);
  const gateway = await startGatewayUnderLoad(t, {
    routes,
    upstreams: { app: { url: service.url } },
    shutdown: { delay: '1s', timeout: '25s' },
  });
  const load = new Load(gateway);
  const running = load.run();
  await sleep(2 * downloadMs);
  const stopped = gateway.stop();
  // As in a pod: traffic continues until the endpoint is removed, and ends within the delay.
  await sleep(500);
  load.stop();
  await running;
  await load.settled();
  t.equal(await stopped, 0);
  t.strictSame([...load.outcomes.keys()], ['whole'], JSON.stringify([...load.outcomes]));
  t.equal(load.outcomes.get('whole'), load.sent);
  t.comment(`${load.sent} requests, each answered whole`);
});

t.test(`${reloadCount} reloads, a third of them invalid, lose nothing and leave nothing`, async (t) => {
  const service = await startService(t);
  const config = (limit: number) => ({
    routes,
    upstreams: { app: { url: service.url, max_connections: 256 + limit } },
  });
  const gateway = await startGatewayUnderLoad(t, config(0));
  const load = new Load(gateway);
  const running = load.run();
  await sleep(2_000);
  const descriptorsBefore = openDescriptors(gateway.pid);
  for (let count = 1; count <= reloadCount; count++) {
    gateway.configure(count % 3 === 0 ? { nope: count } : config(count));
    process.kill(gateway.pid, 'SIGHUP');
    await sleep(isLong ? 250 : 100);
  }
  load.stop();
  await running;
  await load.settled();
  t.strictSame([...load.outcomes.keys()], ['whole'], JSON.stringify([...load.outcomes]));
  t.equal(load.outcomes.get('whole'), load.sent);
  await eventually(
    'only connections of the last configuration',
    async () => (await service.connections()) <= 1,
  );
  const descriptors = openDescriptors(gateway.pid);
  t.ok(descriptors <= descriptorsBefore, `${descriptors} descriptors, ${descriptorsBefore}`);
  t.comment(`${load.sent} requests, ${descriptors} descriptors, ${descriptorsBefore} under load`);
});
