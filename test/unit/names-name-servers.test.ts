import t, { type Test } from 'tap';
import { type Ask, askInTurn, nextAfterMs, patienceMs } from '../../src/names/name-servers.ts';

/** Name servers by letter, which respond when the test says so. */
function setUp(t: Test, ...servers: string[]) {
  const asked: { server: string; timeoutMs: number; isCancelled: boolean }[] = [];
  const waiting: { run: () => void; isOver: boolean }[] = [];
  const responses: PromiseWithResolvers<readonly string[]>[] = [];
  const ask: Ask<string> = (server, timeoutMs) => {
    const response = Promise.withResolvers<readonly string[]>();
    const entry = { server, timeoutMs, isCancelled: false };
    asked.push(entry);
    responses.push(response);
    return {
      addresses: response.promise,
      cancel() {
        entry.isCancelled = true;
        response.reject(Object.assign(new Error(), { code: 'ECANCELLED' }));
      },
    };
  };
  const found = askInTurn(servers, ask, (ms, run) => {
    t.equal(ms, nextAfterMs);
    const entry = { run, isOver: false };
    waiting.push(entry);
    return () => {
      entry.isOver = true;
    };
  });
  const outcome = found.then(
    (addresses) => addresses.join(' '),
    ({ code }: NodeJS.ErrnoException) => code,
  );
  return {
    servers,
    outcome,
    asked,
    order: () => asked.map(({ server }) => server).join(''),
    /** The time to wait for a response is over. */
    pass() {
      const last = waiting.at(-1)!;
      if (!last.isOver) last.run();
    },
    respond: (i: number, ...addresses: string[]) => responses[i]!.resolve(addresses),
    async fail(i: number, code: string) {
      responses[i]!.reject(Object.assign(new Error(), { code }));
      await new Promise(setImmediate);
    },
    isWaiting: () => waiting.some(({ isOver }) => !isOver),
  };
}

t.test('a silent server: the next is asked as well, and each may still respond', async (t) => {
  const { servers, outcome, asked, order, pass, respond, isWaiting } = setUp(t, 'a', 'b');
  pass();
  pass();
  t.equal(order(), 'aba');
  t.strictSame(
    asked.map(({ timeoutMs }) => timeoutMs),
    [patienceMs, patienceMs - nextAfterMs, patienceMs - 2 * nextAfterMs],
  );
  respond(1, '10.0.0.1');
  t.equal(await outcome, '10.0.0.1');
  t.strictSame(
    asked.map(({ isCancelled }) => isCancelled),
    [true, false, true],
  );
  t.notOk(isWaiting());
  t.strictSame(servers, ['b', 'a'], 'the next question begins with the one that responded');
});

t.test('the first server, late', async (t) => {
  const { servers, outcome, asked, pass, respond } = setUp(t, 'a', 'b');
  pass();
  respond(0, '10.0.0.1');
  t.equal(await outcome, '10.0.0.1');
  t.ok(asked[1]!.isCancelled);
  t.strictSame(servers, ['a', 'b']);
});

t.test('a server that fails is not asked again, and the next one is at once', async (t) => {
  const { outcome, order, fail, pass, isWaiting } = setUp(t, 'a', 'b', 'c');
  await fail(0, 'ESERVFAIL');
  await fail(1, 'EREFUSED');
  t.equal(order(), 'abc');
  pass();
  t.equal(order(), 'abcc', 'only what is silent is asked again');
  await fail(2, 'ETIMEOUT');
  await fail(3, 'ETIMEOUT');
  t.equal(await outcome, 'EREFUSED', 'which says more than silence');
  t.notOk(isWaiting());
});

t.test('one that fails while another is asked already', async (t) => {
  const { outcome, order, fail, pass, respond } = setUp(t, 'a', 'b');
  pass();
  await fail(0, 'ESERVFAIL');
  t.equal(order(), 'ab', 'it still has time to respond');
  pass();
  t.equal(order(), 'abb');
  respond(2, '10.0.0.1');
  t.equal(await outcome, '10.0.0.1');
});

t.test('no such name is a response', async (t) => {
  for (const code of ['ENOTFOUND', 'ENODATA', 'EBADNAME']) {
    const { outcome, order, fail, isWaiting } = setUp(t, 'a', 'b');
    await fail(0, code);
    t.equal(await outcome, code);
    t.equal(order(), 'a');
    t.notOk(isWaiting());
  }
});

t.test('only silence', async (t) => {
  const { outcome, order, fail, pass } = setUp(t, 'a');
  for (let i = 0; i < 9; i++) pass();
  t.equal(order(), 'aaa', 'each question takes a file descriptor');
  for (let i = 0; i < 3; i++) await fail(i, 'ETIMEOUT');
  t.equal(await outcome, 'ETIMEOUT');
});
