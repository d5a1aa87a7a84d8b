import { once } from 'node:events';
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { pipeline } from 'node:stream/promises';
import t from 'tap';
import {
  type GatewayUnderLoad,
  isLong,
  startGatewayUnderLoad,
} from '../support/gateway/gateway-under-load.ts';
import { mebibytes, residentBytes, watchResident } from '../support/gateway/process-usage.ts';
import { digestOf, generateData } from '../support/generated-data.ts';
import { startHttpUpstream } from '../support/servers/http-upstream.ts';

const transfers = isLong ? 20 : 4;
const bytes = isLong ? 2 ** 30 : 24 * 2 ** 20;
const maxGrowthBytes = 200 * 2 ** 20;

/** Every other body has a length, the rest are chunked. */
const framing = (index: number) => (index % 2 === 0 ? { 'content-length': bytes } : {});

function ask(gateway: GatewayUnderLoad, method: string, index: number) {
  const headers = { 'x-api-key': gateway.key, ...(method === 'PUT' ? framing(index) : {}) };
  return requestHttp({ port: gateway.port, method, path: `/api/store/${index}`, headers, agent: false });
}

/** Sends a body; returns whether the upstream received it unchanged. */
async function upload(gateway: GatewayUnderLoad, index: number): Promise<boolean> {
  const data = generateData(bytes);
  const sent = ask(gateway, 'PUT', index);
  const answered = once(sent, 'response') as Promise<[IncomingMessage]>;
  await pipeline(data.stream, sent);
  const [response] = await answered;
  let text = '';
  for await (const chunk of response) text += chunk;
  return response.statusCode === 200 && text === data.digest();
}

/** Downloads a body; returns whether it is as the upstream sent it. */
async function download(gateway: GatewayUnderLoad, index: number, sent: Map<string, () => string>) {
  const asked = ask(gateway, 'GET', index);
  asked.end();
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  const got = await digestOf(response);
  return (
    response.statusCode === 200 && got.bytes === bytes && got.digest === sent.get(`/api/store/${index}`)!()
  );
}

t.setTimeout(isLong ? 1_500_000 : 60_000);

t.test(`${transfers} uploads and ${transfers} downloads of ${mebibytes(bytes)} MiB at once`, async (t) => {
  const sent = new Map<string, () => string>();
  const upstream = await startHttpUpstream(t, async (request, response) => {
    if (request.method === 'PUT') {
      const { digest } = await digestOf(request);
      response.end(digest);
      return;
    }
    const data = generateData(bytes);
    sent.set(request.url!, data.digest);
    response.writeHead(200, framing(Number(request.url!.split('/').at(-1))));
    await pipeline(data.stream, response);
  });
  const gateway = await startGatewayUnderLoad(t, { upstreams: { app: { url: upstream.url } } });
  const before = residentBytes(gateway.pid);
  const watch = watchResident(gateway.pid);
  const started = performance.now();
  const indices = Array.from({ length: transfers }, (_, index) => index);
  const [uploads, downloads] = await Promise.all([
    Promise.all(indices.map((index) => upload(gateway, index))),
    Promise.all(indices.map((index) => download(gateway, index, sent))),
  ]);
  const growth = watch.stop() - before;
  t.comment(`RSS grew by ${mebibytes(growth)} MiB in ${Math.round(performance.now() - started)} ms`);
  t.ok(uploads.every(Boolean), 'every upload reached the upstream as it was');
  t.ok(downloads.every(Boolean), 'every download reached the client as it was');
  if (isLong) t.ok(growth < maxGrowthBytes, `memory grew by ${mebibytes(growth)} MiB`);
});
