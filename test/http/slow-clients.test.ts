import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { eventually, startForwarding } from '../support/forwarding.ts';
import { connectRaw, type RawConnection } from '../support/raw-client.ts';
import { startRawUpstream } from '../support/raw-upstream.ts';

const limits = {
  header_timeout: '300ms',
  body_idle_timeout: '300ms',
  write_idle_timeout: '300ms',
  keep_alive_timeout: '600ms',
};
/** What a limit of 300 ms comes to, with the time between two looks at the connections and that of a busy machine. */
const isTimely = (milliseconds: number) => milliseconds >= 290 && milliseconds < 900;

const start = (t: Test, more: object = {}) =>
  startForwarding(t, { limits: { ...limits, ...more }, shutdown: { timeout: '50ms' } });

async function millisecondsUntil(done: Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await done;
  return performance.now() - startedMs;
}

/** Sends it byte by byte, ever more slowly than anybody has a reason to, until the connection is gone. */
async function drip(connection: RawConnection, text: string, everyMs = 50): Promise<void> {
  let open = true;
  void connection.closed.then(() => {
    open = false;
  });
  for (const character of text) {
    if (!open) return;
    connection.write(character);
    await sleep(everyMs);
  }
}

t.test('a head that does not come to its end in time is 408', async (t) => {
  const gateway = await start(t);
  const head = gateway.raw('GET /api/store/x HTTP/1.1');
  await t.test('when nothing more comes', async (t) => {
    const client = await connectRaw(gateway.port);
    client.write(head.slice(0, 20));
    t.ok(isTimely(await millisecondsUntil(client.closed)));
    t.match(await client.answer(), { status: 408, json: { code: 'request_timeout' } });
    t.equal(await client.closed, 'ended');
  });
  await t.test('when it drips', async (t) => {
    const client = await connectRaw(gateway.port);
    void drip(client, head);
    t.ok(isTimely(await millisecondsUntil(client.answer())), 'drops don’t count as progress');
    client.reset();
  });
  await t.test('on a connection that was used before', async (t) => {
    const client = await connectRaw(gateway.port);
    client.write(head);
    t.equal((await client.answer()).status, 200);
    client.write(head.slice(0, 20));
    t.ok(isTimely(await millisecondsUntil(client.closed)));
    t.equal((await client.answer()).status, 408);
  });
  t.equal(gateway.upstream.seen.length, 1);
});

t.test('a connection that never says anything is closed', async (t) => {
  const gateway = await start(t);
  const client = await connectRaw(gateway.port);
  t.ok(isTimely(await millisecondsUntil(client.closed)));
  await t.rejects(client.answer(), 'without a word');
});

t.test('a connection between two requests is kept for keep_alive_timeout', async (t) => {
  const gateway = await start(t);
  const client = await connectRaw(gateway.port);
  for (let i = 0; i < 3; i++) {
    client.write(gateway.raw('GET /api/store/x HTTP/1.1'));
    t.equal((await client.answer()).status, 200);
    await sleep(350);
  }
  const waitedMs = await millisecondsUntil(client.closed);
  t.ok(waitedMs > 150 && waitedMs < 1_000, `${Math.round(waitedMs)} ms`);
});

t.test('a body that stops coming is 408, one that goes on slowly is not', async (t) => {
  const gateway = await start(t);
  const bodies: Record<string, [lines: string[], begin: string]> = {
    'of known length': [['Content-Length: 20'], 'begin'],
    'in chunks': [['Transfer-Encoding: chunked'], '5\r\nbegin\r\n'],
    'within a chunk': [['Transfer-Encoding: chunked'], '20\r\nbegin'],
  };
  for (const [name, [lines, begin]] of Object.entries(bodies))
    for (const path of ['/api/store/x', '/api/login/access-token'])
      await t.test(`${name}, ${path}`, async (t) => {
        const client = await connectRaw(gateway.port);
        client.write(gateway.raw(`POST ${path} HTTP/1.1`, lines, begin));
        const waitedMs = await millisecondsUntil(client.closed);
        t.ok(isTimely(waitedMs), `${Math.round(waitedMs)} ms`);
        t.match(await client.answer(), { status: 408, json: { code: 'request_timeout' } });
        t.equal(await client.closed, 'ended');
      });
  await t.test('slowly', async (t) => {
    const client = await connectRaw(gateway.port);
    client.write(gateway.raw('POST /api/store/x HTTP/1.1', ['Content-Length: 10']));
    void drip(client, '0123456789', 100);
    t.equal((await client.answer()).status, 200);
  });
});

/** A gateway whose upstream answers with that many bytes, and a client that has asked and does not read. */
async function unread(t: Test, bytes: number, lines: string[] = [], more: object = {}) {
  const upstream = await startRawUpstream(t, ({ socket }) => {
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${bytes}\r\n\r\n`);
    socket.write(Buffer.alloc(bytes, 'x'));
  });
  const gateway = await startForwarding(t, {
    limits: { ...limits, ...more },
    upstreams: { app: { url: upstream.url } },
    shutdown: { timeout: '50ms' },
  });
  const client = await connectRaw(gateway.port);
  client.pause();
  client.write(gateway.raw('GET /api/store/file HTTP/1.1', lines));
  return { gateway, upstream, client };
}

const tooMuch = 64 * 1024 * 1024;

t.test('an answer that nobody reads is cut', async (t) => {
  const { gateway, upstream } = await unread(t, tooMuch);
  const cut = () => gateway.logLines().some(({ outcome }) => outcome === 'client_too_slow');
  const waitedMs = await millisecondsUntil(eventually(cut));
  t.ok(isTimely(waitedMs), `${Math.round(waitedMs)} ms`);
  await eventually(() => upstream.open === 0);
});

t.test('whoever goes on sending does not gain time by it', async (t) => {
  const { gateway, client } = await unread(t, tooMuch);
  void drip(client, gateway.raw('GET /api/store/x HTTP/1.1'));
  const cut = () => gateway.logLines().some(({ outcome }) => outcome === 'client_too_slow');
  const waitedMs = await millisecondsUntil(eventually(cut));
  t.ok(isTimely(waitedMs), `${Math.round(waitedMs)} ms`);
});

t.test('whoever reads on in time gets it whole, the end of the connection too', async (t) => {
  // Around what the kernel holds: somewhere among them the last bytes wait in the gateway itself.
  const { client } = await unread(t, 16 * 1024 * 1024, ['Connection: close'], { write_idle_timeout: '10s' });
  await sleep(1_500);
  client.resume();
  const answer = await client.answer();
  t.ok(answer.isWhole);
});
