import { spawnSync } from 'node:child_process';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { createProcesses } from '../../bench/processes.ts';

const source = join(import.meta.dirname, '../../bench/programs/paced-load');
const binary = join(t.testdir({}), 'paced-load');
const built = spawnSync('go', ['build', '-C', source, '-o', binary, '.'], { encoding: 'utf8' });

/** What it prints; times in microseconds. */
interface Result {
  readonly Due: number;
  readonly Answered: number;
  readonly P50: number;
  readonly P99: number;
  readonly Failures: Record<string, number>;
}

async function load(t: Test, listener: RequestListener, changes: object = {}): Promise<Result> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const task = { Port: port, Connections: 8, Target: '/a', Header: 'X-API-Key', Values: ['1', '2', '3'] };
  const directory = t.testdir({ task: JSON.stringify({ ...task, PerSecond: 200, Seconds: 2, ...changes }) });
  const program = { name: 'load', command: binary, args: [join(directory, 'task')], cpu: undefined };
  return JSON.parse(await createProcesses(directory).run(program));
}

if (built.error !== undefined) t.pass('needs Go', { skip: 'go is not on the PATH' });
else {
  t.test('every request that is due is sent, with the credentials in turn', async (t) => {
    const seen: unknown[] = [];
    const result = await load(t, (request, response) => {
      seen.push(request.headers['x-api-key']);
      response.end('ok');
    });
    t.match(result, { Due: 400, Answered: 400, Failures: {} });
    t.equal(seen.length, 400);
    for (const value of ['1', '2', '3']) t.ok(seen.filter((each) => each === value).length >= 133, value);
  });

  t.test('a request that waits for a stalled server is counted from when it was due', async (t) => {
    let sent = 0;
    // One response in 400 takes half a second of the server's only thread.
    const result = await load(t, (_request, response) => {
      sent += 1;
      if (sent === 100) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
      response.end('ok');
    });
    t.match(result, { Answered: 400, Failures: {} });
    // A hundred were due meanwhile: a generator that waits for responses would have sent eight of them.
    t.ok(result.P99 >= 400_000, `p99 ${result.P99} µs`);
  });

  t.test('refusals and broken connections are told by kind', async (t) => {
    let sent = 0;
    const result = await load(t, (request, response) => {
      sent += 1;
      if (sent === 1) request.socket.destroy();
      else response.writeHead(sent === 2 ? 401 : 200, { 'content-length': 2 }).end('ok');
    });
    t.same(result.Failures, { closed: 1, 401: 1 });
    t.equal(result.Answered, 398);
  });

  t.test('a response may come in pieces', async (t) => {
    const result = await load(
      t,
      ({ socket }) => {
        const pieces = ['HTTP/1.1 200 O', 'K\r\ncontent-', 'LENGTH: 4\r\n', '\r\nab', 'cd'];
        const next = () => {
          const piece = pieces.shift();
          if (piece === undefined) return;
          socket.write(piece);
          setTimeout(next, 5);
        };
        next();
      },
      { PerSecond: 1, Seconds: 1 },
    );
    t.match(result, { Due: 1, Answered: 1, Failures: {} });
  });
}
