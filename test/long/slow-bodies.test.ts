import t from 'tap';
import { connectRaw } from '../support/clients/raw-client.ts';
import { startForwarding } from '../support/gateway/forwarding.ts';
import { isLong } from '../support/gateway/gateway-under-load.ts';

t.setTimeout(180_000);

if (isLong)
  t.test('a body that trickles has half a minute', async (t) => {
    const gateway = await startForwarding(t, {
      upstreams: { app: { url: 'builtin:echo', max_connections: 16 } },
      routes: [
        { prefix: '/api/live', upstream: 'app', body_rate: 0 },
        { prefix: '/api', upstream: 'app' },
      ],
    });
    const begin = async (path: string, sendEveryMs: number, bytes: number, length = 1_000_000) => {
      const client = await connectRaw(gateway.port);
      client.write(gateway.raw(`POST ${path} HTTP/1.1`, [`Content-Length: ${length}`], 'x'));
      const startedMs = performance.now();
      const sending = setInterval(() => client.write('x'.repeat(bytes)), sendEveryMs);
      t.teardown(() => {
        clearInterval(sending);
        client.reset();
      });
      const state = { status: 0, afterMs: 0 };
      void client.response().then(
        ({ status }) => Object.assign(state, { status, afterMs: performance.now() - startedMs }),
        () => {},
      );
      return state;
    };
    const slow = await Promise.all(Array.from({ length: 16 }, () => begin('/api/slow', 2_000, 1)));
    const own = await begin('/api/login/access-token', 2_000, 1, 60_000);
    const streamed = await begin('/api/live', 2_000, 1);
    const steady = await begin('/api/steady', 500, 1_024);
    for (const atSeconds of [2, 20]) {
      await new Promise((resolve) => setTimeout(resolve, atSeconds * 1_000));
      t.ok(await gateway.stillServes(), `others are served after ${atSeconds} s`);
    }
    await new Promise((resolve) => setTimeout(resolve, 45_000));
    // The first eight had their connection after a second, and the others when those were done with.
    t.same(
      slow.slice(0, 8).map(({ status }) => status),
      Array(8).fill(408),
    );
    t.ok(
      slow.slice(0, 8).every(({ afterMs }) => afterMs >= 29_500 && afterMs < 35_000),
      `after ${Math.round(slow[0]!.afterMs)} ms`,
    );
    t.match(own, { status: 408 }, 'an own body too');
    t.same(
      [streamed.status, steady.status],
      [0, 0],
      'streams that are allowed, and bodies that are fast enough, continue',
    );
  });
else t.pass('bodies that trickle are given up', { skip: 'it takes a minute: set POSTERN_TEST_LONG' });
