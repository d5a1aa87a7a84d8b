import { once } from 'node:events';
import { Agent, type IncomingMessage, request as requestHttp } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import {
  type GatewayUnderLoad,
  isLong,
  repeat,
  startGatewayUnderLoad,
} from '../support/gateway/gateway-under-load.ts';
import { poolBecomes, readPoolGauges } from '../support/gateway/pool-gauges.ts';
import { startHttpUpstream } from '../support/servers/http-upstream.ts';

const clients = 200;
const pool = 16;
const requestsOfEach = isLong ? 100 : 8;

interface Counts {
  answered: number;
  aborted: number;
  readonly wrong: string[];
}

/** Sends a body and expects it back; every third client disconnects at some point. */
async function ask(gateway: GatewayUnderLoad, agent: Agent, index: number, counts: Counts): Promise<void> {
  const body = `${index}-`.repeat(2_000 + (index % 50) * 500);
  const sent = requestHttp({
    agent,
    port: gateway.port,
    method: 'POST',
    path: `/api/store/${index}`,
    headers: { 'x-api-key': gateway.key, 'content-length': Buffer.byteLength(body) },
  });
  const isAborted = index % 3 === 0;
  sent.on('error', (error) => isAborted || counts.wrong.push(`${index}: ${error.message}`));
  if (isAborted) {
    sent.write(index % 2 === 0 ? body : body.slice(0, 100));
    await sleep(Math.random() * 40);
    sent.destroy();
    counts.aborted++;
    return;
  }
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  if (response.statusCode === 200 && Buffer.concat(chunks).toString() === body) counts.answered++;
  else counts.wrong.push(`${index}: ${response.statusCode} ${chunks.join('').slice(0, 200)}`);
}

t.setTimeout(isLong ? 300_000 : 60_000);

t.test(`${clients} clients on ${pool} connections, a third of which disconnect`, async (t) => {
  const upstream = await startHttpUpstream(t, async (request, response) => {
    const chunks: Buffer[] = [];
    request.on('error', () => {});
    for await (const chunk of request.iterator({ destroyOnReturn: false })) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    await sleep(Math.random() * 10);
    response.write(body.subarray(0, body.length / 2));
    await sleep(Math.random() * 5);
    response.end(body.subarray(body.length / 2));
  });
  const gateway = await startGatewayUnderLoad(t, {
    upstreams: { app: { url: upstream.url, max_connections: pool, max_waiting: clients } },
  });
  const counts: Counts = { answered: 0, aborted: 0, wrong: [] };
  let mostOpen = 0;
  const watch = setInterval(async () => {
    mostOpen = Math.max(mostOpen, (await readPoolGauges(gateway.managementPort)).open);
  }, 100);
  const agents = Array.from({ length: clients }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
  await repeat(clients * requestsOfEach, clients, (index) =>
    ask(gateway, agents[index % clients]!, index, counts),
  );
  clearInterval(watch);
  t.same(counts.wrong, [], 'every other request gets a response with its own body');
  t.equal(counts.answered + counts.aborted, clients * requestsOfEach);
  t.ok(counts.aborted >= Math.floor((clients * requestsOfEach) / 3));
  t.ok(mostOpen > 1 && mostOpen <= pool, `${mostOpen} connections at most`);
  await poolBecomes(gateway.managementPort, ({ open, waiting }) => open <= pool && waiting === 0);
  await repeat(pool * 4, pool * 2, (index) => ask(gateway, agents[index]!, 3 * index + 1, counts));
  t.same(counts.wrong, [], 'no slot in the pool is lost');
  for (const agent of agents) agent.destroy();
});
