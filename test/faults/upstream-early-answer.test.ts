import t from 'tap';
import { startForwarding } from '../support/forwarding.ts';
import { poolBecomes } from '../support/pool-gauges.ts';
import { connectRaw } from '../support/raw-client.ts';
import { startRawUpstream } from '../support/raw-upstream.ts';

const tries = 40;
const bytes = 4 * 2 ** 20;

t.test('the upstream answers amid an upload and resets: the client gets that answer, or a refusal', async (t) => {
  const text = 'too much for me';
  const upstream = await startRawUpstream(t, ({ socket }) => {
    socket.pause();
    socket.write(`HTTP/1.1 413 Content Too Large\r\nContent-Length: ${text.length}\r\n\r\n${text}`, () =>
      socket.resetAndDestroy(),
    );
  });
  const settings = { url: upstream.url, max_connections: 1 };
  const gateway = await startForwarding(t, { upstreams: { app: settings } });
  const statuses: Record<number, number> = {};
  for (let i = 0; i < tries; i++) {
    const connection = await connectRaw(gateway.port);
    const lines = i % 2 === 0 ? [`Content-Length: ${bytes}`] : ['Transfer-Encoding: chunked'];
    connection.write(gateway.raw(`PUT /api/store/${i} HTTP/1.1`, lines));
    const body = Buffer.alloc(bytes / 2, 'x');
    connection.write(i % 2 === 0 ? body : Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body]));
    const answer = await connection.answer();
    statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
    t.ok(answer.isWhole);
    t.ok(answer.status === 413 ? answer.text === text : answer.json.code === 'upstream_unavailable');
    connection.reset();
    await poolBecomes(gateway.managementPort, ({ open, waiting }) => open === 0 && waiting === 0);
  }
  t.comment(JSON.stringify(statuses));
});
