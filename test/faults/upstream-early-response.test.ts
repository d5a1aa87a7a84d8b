import t from 'tap';
import { connectRaw } from '../support/clients/raw-client.ts';
import { startGatewayUnderLoad } from '../support/gateway/gateway-under-load.ts';
import { poolBecomes } from '../support/gateway/pool-gauges.ts';
import { openDescriptors } from '../support/gateway/process-usage.ts';
import { startRawUpstream } from '../support/servers/raw-upstream.ts';

const tries = 40;
const bytes = 4 * 2 ** 20;

// A reset may overtake the response before it: then nobody can tell what it was.
t.test(
  'the upstream responds during an upload and resets: the client gets that response, or a refusal',
  async (t) => {
    const text = 'too much for me';
    const upstream = await startRawUpstream(t, ({ socket }) => {
      socket.pause();
      socket.write(`HTTP/1.1 413 Content Too Large\r\nContent-Length: ${text.length}\r\n\r\n${text}`, () =>
        socket.resetAndDestroy(),
      );
    });
    const gateway = await startGatewayUnderLoad(t, {
      upstreams: { app: { url: upstream.url, max_connections: 1 } },
    });
    const before = openDescriptors(gateway.pid);
    for (let i = 0; i < tries; i++) {
      const connection = await connectRaw(gateway.port);
      const piece = Buffer.alloc(bytes / 2, 'x');
      if (i % 2 === 0)
        connection.write(gateway.raw(`PUT /api/store/${i} HTTP/1.1`, `Content-Length: ${bytes}`));
      else {
        connection.write(gateway.raw(`PUT /api/store/${i} HTTP/1.1`, 'Transfer-Encoding: chunked'));
        connection.write(`${piece.length.toString(16)}\r\n`);
      }
      connection.write(piece);
      const response = await connection.response();
      t.ok(response.isWhole);
      t.ok(response.status === 413 ? response.text === text : response.json.code === 'upstream_unavailable');
      connection.reset();
      await poolBecomes(gateway.managementPort, ({ open, waiting }) => open === 0 && waiting === 0);
    }
    t.ok(openDescriptors(gateway.pid) <= before + 2, 'nor is a client’s connection left open');
  },
);
