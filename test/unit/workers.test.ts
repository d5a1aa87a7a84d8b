import { PassThrough } from 'node:stream';
import t from 'tap';
import { stringify } from 'yaml';
import { ManagedProblems } from '../../src/administration/managed.ts';
import { workerCount } from '../../src/cli/serve/serve.ts';
import { loadConfigText } from '../../src/config/load.ts';
import type { Config } from '../../src/config/sections/schema.ts';
import { Refusal } from '../../src/errors.ts';
import type { Readiness } from '../../src/http/readiness.ts';
import { StoreOpenError } from '../../src/stores/store-open-error.ts';
import { combineReadiness } from '../../src/workers/combined-readiness.ts';
import { passLines } from '../../src/workers/pass-lines.ts';
import { responsesOf } from '../../src/workers/responses.ts';
import type { WorkerFunctions } from '../../src/workers/worker-api.ts';
import { PendingCalls, respondTo, type WorkerMessage } from '../../src/workers/worker-calls.ts';
import { evenPart } from '../../src/workers/worker-group.ts';
import { Restarts } from '../../src/workers/worker-slot.ts';
import { testConfig } from '../support/gateway/gateway.ts';

function configOf(overrides: object): Config {
  return loadConfigText(stringify(testConfig('http://127.0.0.1:1', overrides)), '/tmp', {}).config!;
}

t.test('a configuration is the same in another process', async (t) => {
  const config = configOf({
    limits: { connections: 7 },
    stores: { records: 'postgres://a@b/c', sessions: 'rediss://d' },
  });
  t.strictSame(structuredClone(config), config);
});

t.test('limits of the gateway are shared out evenly, rounded up; all else is for each', async (t) => {
  const whole = configOf({
    limits: { connections: 1_000, connections_per_address: 10, header_count: 7 },
    passwords: { concurrency: 2, queue: 64 },
    upstreams: { app: { url: 'http://127.0.0.1:1', max_connections: 256, max_waiting: 0 } },
  });
  const { limits, passwords, upstreams, ...rest } = evenPart(whole, 3);
  t.match(limits, { connections: 334, connections_per_address: 4, header_count: 7 });
  t.match(passwords, { concurrency: 1, queue: 22 });
  t.match(upstreams.app, { max_connections: 86, max_waiting: 0, connect_timeout: 2_000 });
  t.strictSame(
    { ...rest, limits: 0, passwords: 0, upstreams: 0 },
    { ...whole, limits: 0, passwords: 0, upstreams: 0 },
  );
  t.equal(evenPart(configOf({}), 4).limits.connections_per_address, 0, 'no bound stays none');
});

t.test('auto is the CPUs that this process may use', async (t) => {
  t.equal(workerCount({ workers: 3 }), 3);
  t.ok(workerCount({ workers: 'auto' }) >= 1);
});

const ok = { ok: true };
const away = { ok: false, reason: 'connect ECONNREFUSED' };
const stateOf = (status: Readiness['status'], records: Readiness['dependencies'][string]): Readiness => ({
  status,
  dependencies: { records, sessions: ok },
});

t.test('a gateway is ready while one of its workers is', async (t) => {
  const rows: readonly [
    name: string,
    states: readonly (Readiness | null)[],
    isDraining: boolean,
    expected: object,
  ][] = [
    [
      'all',
      [stateOf('ready', ok), stateOf('ready', ok)],
      false,
      { status: 'ready', workers: { ready: 2, of: 2 } },
    ],
    ['one ended', [null, stateOf('ready', ok)], false, { status: 'ready', workers: { ready: 1, of: 2 } }],
    ['none yet', [null, null], false, { status: 'not_ready', workers: { ready: 0, of: 2 } }],
    [
      'none',
      [stateOf('not_ready', away), null],
      false,
      { status: 'not_ready', workers: { ready: 0, of: 2 } },
    ],
    ['draining', [stateOf('ready', ok), null], true, { status: 'draining', workers: { ready: 1, of: 2 } }],
  ];
  for (const [name, states, isDraining, expected] of rows)
    t.match(combineReadiness(states, isDraining), expected, name);
  t.strictSame(combineReadiness([null], false).dependencies, {
    records: { ok: false },
    sessions: { ok: false },
  });
});

t.test('a dependency is there if it is for every worker', async (t) => {
  for (const states of [
    [stateOf('ready', ok), stateOf('ready', away)],
    [stateOf('ready', away), stateOf('ready', ok)],
  ])
    t.strictSame(combineReadiness(states, false).dependencies, { records: away, sessions: ok });
});

t.test('the first restart is at once, further ones later and later, until one has served', async (t) => {
  let now = 0;
  const restarts = new Restarts(() => now);
  const pauses = (count: number) => Array.from({ length: count }, () => restarts.pauseMs());
  t.strictSame(pauses(9), [0, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
  restarts.served();
  now += 59_999;
  t.equal(restarts.pauseMs(), 30_000, 'not for long enough');
  restarts.served();
  now += 60_000;
  t.strictSame(pauses(2), [0, 500]);
});

t.test('lines are passed on whole, whatever pieces they come in', async (t) => {
  const from = new PassThrough();
  const passed: string[] = [];
  const done = passLines(from, (lines) => passed.push(lines));
  for (const piece of ['one\ntw', 'o', '\nthree\nfour\nf']) {
    from.write(piece);
    await new Promise(setImmediate);
  }
  const [first, second] = [Buffer.from('ü\n').subarray(0, 1), Buffer.from('ü\n').subarray(1)];
  from.write(first);
  await new Promise(setImmediate);
  from.write(second);
  from.end('the last');
  await done;
  t.strictSame(passed, ['one\n', 'two\nthree\nfour\n', 'fü\n', 'the last\n']);
});

t.test('a line without an end is cut, not kept for ever', async (t) => {
  const from = new PassThrough();
  let passed = 0;
  const done = passLines(from, (lines) => {
    passed += lines.length;
  });
  from.end('x'.repeat(3 * 1024 * 1024));
  await done;
  t.ok(passed >= 3 * 1024 * 1024);
});

/** Calls of a worker with these functions, over copies as between processes. */
function connected(functions: Partial<WorkerFunctions>): PendingCalls {
  const calls: PendingCalls = new PendingCalls(async (call) => {
    const message = await respondTo(functions as WorkerFunctions, structuredClone(call));
    calls.settle(structuredClone(message) as Extract<WorkerMessage, { response: number }>);
  });
  return calls;
}

t.test('an error keeps what its sentence and exit code are made of', async (t) => {
  const listening = Object.assign(new Error('listen EADDRINUSE'), {
    code: 'EADDRINUSE',
    syscall: 'listen',
    address: '127.0.0.1',
    port: 80,
  });
  const findings = [{ path: ['users', 'ada'], rule: 'is there already' }];
  const cause = Object.assign(new Error('full'), { code: 'SQLITE_FULL' });
  const thrownOver = (error: Error) =>
    connected({ metrics: () => Promise.reject(error) })
      .call('metrics')
      .catch((error: unknown) => error);
  t.match(await thrownOver(new Error('no')), new Error('no'));
  t.match(await thrownOver(listening), {
    code: 'EADDRINUSE',
    syscall: 'listen',
    address: '127.0.0.1',
    port: 80,
  });
  t.match(await thrownOver(new StoreOpenError('/data/records.db', 'is not a database')), {
    code: 'store_open_failed',
    message: /is not a database/,
  });
  const managed = await thrownOver(new ManagedProblems(findings));
  t.ok(managed instanceof ManagedProblems);
  t.match(managed, { findings });
  const refused = await thrownOver(new Refusal('store_unavailable', { cause }));
  t.ok(refused instanceof Refusal);
  t.match(refused, { code: 'store_unavailable', options: { cause: { code: 'SQLITE_FULL' } } });
  const thrown = connected({
    ping() {
      throw new Error('at once');
    },
  });
  await t.rejects(thrown.call('ping'), new Error('at once'));
});

t.test('calls that have no response reject once the other process has ended', async (t) => {
  const calls = connected({
    metrics: () => new Promise(() => {}),
    assertionKeys: async () => ({ keys: [] }),
  });
  t.strictSame(await calls.call('assertionKeys'), { keys: [] });
  const pending = calls.call('metrics');
  calls.close(new Error('it ended'));
  await t.rejects(pending, new Error('it ended'));
  await t.rejects(calls.call('assertionKeys'), new Error('it ended'));
});

t.test('responses are waited for, but not those of a process that hangs', async (t) => {
  const hanging = new Promise<number>(() => {});
  const soon = { firstMs: 1, othersMs: 1 };
  const failing = () => Promise.reject(new Error('no'));
  // Timers of the probes keep no process alive.
  const alive = setInterval(() => {}, 1_000);
  t.strictSame(await responsesOf([Promise.resolve(1), failing(), Promise.resolve(3)]), [1, null, 3]);
  t.strictSame(await responsesOf([Promise.resolve(1), hanging], soon), [1, null]);
  t.strictSame(await responsesOf([hanging], soon), [null]);
  clearInterval(alive);
});
