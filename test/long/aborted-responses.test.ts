import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { isLong, repeat, startGatewayUnderLoad } from '../support/gateway/gateway-under-load.ts';
import { poolBecomes } from '../support/gateway/pool-gauges.ts';
import { mebibytes, openDescriptors, residentBytes } from '../support/gateway/process-usage.ts';
import { startHttpUpstream } from '../support/servers/http-upstream.ts';

const aborts = isLong ? 10_000 : 300;
const warmUps = isLong ? 2_000 : 200;
const parallel = 50;
/** The heap of a busy process varies by this much without a leak. */
const heapPlayBytes = 24 * 2 ** 20;

t.setTimeout(isLong ? 600_000 : 60_000);

t.test(`${aborts} clients that disconnect during a response leave nothing behind`, async (t) => {
  const piece = Buffer.alloc(64 * 1024, 'x');
  const upstream = await startHttpUpstream(t, (_request, response) => {
    const more = () => {
      while (!response.destroyed && response.write(piece));
    };
    response.on('drain', more);
    more();
  });
  const gateway = await startGatewayUnderLoad(t, {
    upstreams: { app: { url: upstream.url, max_connections: parallel } },
  });
  const request = gateway.raw('GET /api/store/endless HTTP/1.1');
  /** Reads for a while, then disconnects: by FIN or RST, with more to read or without having read. */
  const abort = async (index: number) => {
    const client = connect(gateway.port, '127.0.0.1').on('error', () => {});
    const closed = new Promise((resolve) => client.on('close', resolve));
    client.write(request);
    await once(client, 'data');
    if (index % 3 === 0) client.pause();
    await sleep(index % 7);
    if (index % 2 === 0) client.resetAndDestroy();
    else client.end();
    client.resume();
    await closed;
  };
  const settle = async () => {
    await poolBecomes(gateway.managementPort, ({ open, waiting }) => open === 0 && waiting === 0);
    await sleep(1_000);
    return { descriptors: openDescriptors(gateway.pid), resident: residentBytes(gateway.pid) };
  };

  await repeat(warmUps, parallel, abort);
  const before = await settle();
  await repeat(aborts, parallel, abort);
  const after = await settle();
  t.comment(`RSS ${mebibytes(before.resident)} MiB before, ${mebibytes(after.resident)} MiB after`);
  t.equal(await upstream.connections(), 0, 'no connection to the upstream is left');
  t.ok(
    after.descriptors <= before.descriptors + 2,
    `${before.descriptors} descriptors, ${after.descriptors}`,
  );
  // A few hundred prove nothing: the heap of a young process is still growing.
  if (isLong) t.ok(after.resident - before.resident < heapPlayBytes, 'memory is where it was');
});
