import type { ServerResponse } from 'node:http';
import t, { type Test } from 'tap';
import { connectRaw, type RawResponse } from '../support/clients/raw-client.ts';
import { eventually } from '../support/eventually.ts';
import { startForwarding } from '../support/gateway/forwarding.ts';
import { startHttpUpstream } from '../support/servers/http-upstream.ts';

/** Whether the client may send another request on the connection. */
const staysOpen = (response: RawResponse) => !response.values('connection').includes('close');

const accepts = (port: number) =>
  connectRaw(port).then(
    (connection) => {
      connection.end();
      return true;
    },
    () => false,
  );

for (const engine of ['built_in', 'node']) {
  /** A gateway whose upstream answers at once, except for `/api/store/held`, which answers when it is told to. */
  const start = async (t: Test, delay: string) => {
    const held: ServerResponse[] = [];
    const upstream = await startHttpUpstream(t, (request, response) => {
      if (request.url === '/api/store/held') held.push(response);
      else response.end('at once');
    });
    const gateway = await startForwarding(t, {
      listen: { engine },
      upstreams: { app: { url: upstream.url } },
      shutdown: { delay, timeout: '25s' },
    });
    const hold = async (count = 1) => {
      await eventually('the request reaches the upstream', () => held.length === count);
      return held.at(-1)!;
    };
    return { gateway, hold, get: (path: string) => gateway.raw(`GET ${path} HTTP/1.1`) };
  };

  t.test(`${engine}: a response to a request in flight at SIGTERM says that it is the last`, async (t) => {
    const { gateway, hold, get } = await start(t, '0s');
    const connection = await connectRaw(gateway.port);
    connection.write(get('/api/store/held'));
    const response = await hold();
    const stopped = gateway.stop();
    response.end('held');
    const last = await connection.response();
    t.match(last, { status: 200, text: 'held' });
    t.notOk(staysOpen(last));
    t.equal(await connection.closed, 'ended');
    await stopped;
  });

  t.test(`${engine}: a response that promised another request before SIGTERM keeps its word`, async (t) => {
    const { gateway, hold, get } = await start(t, '0s');
    const connection = await connectRaw(gateway.port);
    connection.write(get('/api/store/held'));
    const response = await hold();
    response.write('begun before, ');
    await connection.received('begun before');
    const stopped = gateway.stop();
    await eventually('the delay is over', async () => !(await accepts(gateway.port)));
    response.end('ended after');
    const promised = await connection.response();
    t.match(promised, { status: 200, text: 'begun before, ended after' });
    t.ok(staysOpen(promised));
    connection.write(get('/api/store/next'));
    const last = await connection.response();
    t.match(last, { status: 200, text: 'at once' });
    t.notOk(staysOpen(last));
    t.equal(await connection.closed, 'ended');
    await stopped;
  });

  t.test(`${engine}: during the delay an idle connection stays open for one more request`, async (t) => {
    const { gateway, get } = await start(t, '2s');
    const [used, idle] = [await connectRaw(gateway.port), await connectRaw(gateway.port)];
    for (const connection of [used, idle]) {
      connection.write(get('/api/store/1'));
      t.ok(staysOpen(await connection.response()));
    }
    const stopped = gateway.stop();
    used.write(get('/api/store/2'));
    const last = await used.response();
    t.equal(last.status, 200);
    t.notOk(staysOpen(last));
    t.equal(await used.closed, 'ended');
    const late = await connectRaw(gateway.port);
    late.write(get('/api/store/3'));
    t.match(await late.response(), { status: 200, text: 'at once' }, 'a connection made during the delay');
    t.equal(await idle.closed, 'ended', 'once the delay is over');
    await stopped;
  });

  t.test(`${engine}: a request that has begun to arrive is answered after the delay`, async (t) => {
    const { gateway, get } = await start(t, '0s');
    const connection = await connectRaw(gateway.port);
    const request = get('/api/store/1');
    connection.write(request.slice(0, 20));
    // Another connection's round trip: what was sent before it has been read.
    const other = await connectRaw(gateway.port);
    other.write(get('/api/store/2'));
    await other.response();
    const stopped = gateway.stop();
    await eventually('the delay is over', async () => !(await accepts(gateway.port)));
    connection.write(request.slice(20));
    const last = await connection.response();
    t.match(last, { status: 200, text: 'at once' });
    t.notOk(staysOpen(last));
    await stopped;
  });
}
