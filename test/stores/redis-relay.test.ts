import { once } from 'node:events';
import { Redis, type RedisOptions } from 'ioredis';
import t, { type Test } from 'tap';
import { eventually } from '../support/eventually.ts';
import { type RedisRelay, startRedisRelay } from '../support/stores/redis-relay.ts';
import type { RelayFault } from '../support/stores/redis-relay-faults.ts';
import { type RedisServer, requireRedis, startRedis } from '../support/stores/redis-server.ts';

interface Stage {
  readonly redis: RedisServer;
  readonly relay: RedisRelay;
}

async function startStage(t: Test): Promise<Stage> {
  const redis = await startRedis(t);
  return { redis, relay: await startRedisRelay(t, redis) };
}

/** A client that is connected, fails a command at once when its connection ends, and reconnects. */
async function connectClient(t: Test, port: number, options: RedisOptions = {}): Promise<Redis> {
  const client = new Redis(port, '127.0.0.1', {
    lazyConnect: true,
    maxRetriesPerRequest: 0,
    commandTimeout: 250,
    retryStrategy: () => 5,
    ...options,
  });
  client.on('error', () => {});
  t.teardown(() => client.disconnect());
  await client.connect();
  return client;
}

/** The outcome of a command: its reply, the error in the reply, or how it failed without one. */
const outcome = (command: Promise<unknown>) =>
  command.catch(({ name, message }: Error) =>
    name === 'ReplyError' || message === timedOut ? message : ended,
  );

const timedOut = 'Command timed out';
const ended = 'the connection ended';
const readOnly = "READONLY You can't write against a read only replica.";

interface FaultRow {
  readonly fault: RelayFault;
  /** The outcome of the second of three INCR sent at once on one connection. */
  readonly outcome: unknown;
  /** The outcome of the third. */
  readonly next: unknown;
  /** How many of the three the server executes. */
  readonly executed: 1 | 2 | 3;
  /** Whether it takes as long as the delay. */
  readonly isLate?: boolean;
}

const delayMs = 50;
/** Long enough for a busy machine to make progress in the meantime. */
const longDelayMs = 500;

const faults: Readonly<Record<string, FaultRow>> = {
  'a connection cut before the command': { fault: 'cut-before', outcome: ended, next: ended, executed: 1 },
  'a connection cut after the command': { fault: 'cut-after', outcome: ended, next: ended, executed: 2 },
  'a command swallowed': { fault: 'swallow-command', outcome: timedOut, next: timedOut, executed: 1 },
  'a reply swallowed': { fault: 'swallow-reply', outcome: timedOut, next: timedOut, executed: 2 },
  'a command delayed': { fault: { delayMs }, outcome: 2, next: 3, executed: 3, isLate: true },
  'a reply delayed': { fault: { delayReplyMs: delayMs }, outcome: 2, next: 3, executed: 3, isLate: true },
  'an error instead of a reply': {
    fault: { error: readOnly },
    outcome: readOnly,
    next: 2,
    executed: 2,
  },
  'other bytes instead of a reply': { fault: { bytes: ':42\r\n' }, outcome: 42, next: 2, executed: 2 },
  'garbage instead of a reply': {
    fault: { bytes: 'HTTP/1.1 400 Bad Request\r\n\r\n' },
    outcome: ended,
    next: ended,
    executed: 2,
  },
};

for (const protocol of [2, 3] as const)
  t.test(`each fault strikes exactly one command, over RESP${protocol}`, async (t) => {
    if (!requireRedis(t)) return;
    const stage = await startStage(t);
    for (const [name, row] of Object.entries(faults))
      await t.test(name, (t) => judge(t, stage, row, protocol));
  });

async function judge(t: Test, { redis, relay }: Stage, row: FaultRow, protocol: 2 | 3): Promise<void> {
  await redis.command('SET', 'n', 0);
  const client = await connectClient(t, relay.port, { protocol });
  const armed = relay.arm({ fault: row.fault, at: 2, commands: ['incr'] });
  const sent = performance.now();
  const outcomes = await Promise.all(Array.from({ length: 3 }, () => outcome(client.incr('n'))));
  const tookMs = performance.now() - sent;
  t.strictSame(outcomes, [1, row.outcome, row.next]);
  await armed.hasStruck;
  armed.disarm();
  if (row.isLate === true) t.ok(tookMs >= delayMs - 1, `${tookMs} ms`);
  t.equal(await redis.command('GET', 'n'), String(row.executed));
  const other = await connectClient(t, relay.port, { protocol });
  t.equal(await other.get('n'), String(row.executed), 'other connections are unaffected');
  t.equal(armed.struck, 1);
}

t.test('a rule counts the commands that it matches', async (t) => {
  if (!requireRedis(t)) return;
  const { relay } = await startStage(t);
  const [one, other] = [await connectClient(t, relay.port), await connectClient(t, relay.port)];
  const fault = { error: 'OOM command not allowed' };

  const third = relay.arm({ fault, at: 3 });
  await one.set('a', 1);
  await connectClient(t, relay.port);
  await other.set('b', 1);
  t.equal(await outcome(one.get('a')), fault.error, 'over all connections, except set-up commands');
  t.equal(await outcome(one.get('a')), '1', 'once');
  t.match(third, { counted: 4, struck: 1 });

  relay.arm({
    fault,
    at: 2,
    isLasting: true,
    commands: ({ name, args }) => name === 'get' && args[0] === 'b',
  });
  const gets = [one.get('b'), one.get('a'), other.get('b'), one.get('b')].map(outcome);
  t.strictSame(await Promise.all(gets), ['1', '1', fault.error, fault.error], 'a predicate, from then on');
  await relay.restore();
  t.equal(await outcome(one.get('b')), '1', 'until it is restored');
  t.equal(relay.seen.get('get'), 7);
  t.equal(relay.seen.get('set'), 2);
  t.equal(relay.accepted, 3);
});

t.test('a delayed command is executed even though its client has disconnected', async (t) => {
  if (!requireRedis(t)) return;
  const { redis, relay } = await startStage(t);
  const client = await connectClient(t, relay.port, { retryStrategy: () => null });
  const armed = relay.arm({ fault: { delayMs: longDelayMs } });
  const response = outcome(client.set('late', 'yes'));
  await armed.hasStruck;
  client.disconnect();
  t.equal(await response, ended);
  t.equal(await redis.command('GET', 'late'), null);
  await eventually('it is executed', async () => (await redis.command('GET', 'late')) === 'yes');
  await eventually('no connection is left', async () => {
    const clients = String(await redis.command('CLIENT', 'LIST'))
      .trim()
      .split('\n');
    return relay.open === 0 && clients.every((client) => client.includes(' user=harness '));
  });
});

t.test('messages pass between replies, and faults strike subscriptions, too', async (t) => {
  if (!requireRedis(t)) return;
  const { redis, relay } = await startStage(t);
  for (const protocol of [2, 3] as const) {
    const subscriber = await connectClient(t, relay.port, { protocol, commandTimeout: 10 * longDelayMs });
    relay.arm({ fault: { delayReplyMs: delayMs }, commands: ['subscribe'] });
    t.equal(await subscriber.subscribe('one', 'two'), 2);
    const held = relay.arm({ fault: { delayMs: longDelayMs }, commands: ['ping'] });
    const pong = subscriber.ping();
    await held.hasStruck;
    const message = once(subscriber, 'message');
    await redis.command('PUBLISH', 'two', 'hello');
    t.strictSame(await Promise.race([message, pong]), ['two', 'hello']);
    t.match(await pong, /pong/i);
    t.equal(await subscriber.unsubscribe('one'), 1);
    relay.arm({ fault: 'swallow-reply', commands: ['subscribe'] });
    const other = await connectClient(t, relay.port, { protocol });
    t.equal(await outcome(other.subscribe('three')), timedOut);
  }
});

t.test('the whole relay refuses, swallows and cuts', async (t) => {
  if (!requireRedis(t)) return;
  const { redis, relay } = await startStage(t);
  const client = await connectClient(t, relay.port);
  const isReady = () => eventually('a client that is ready', () => client.status === 'ready');

  const held = relay.arm({ fault: { delayMs: 10_000 } });
  const response = outcome(client.set('a', 1));
  await held.hasStruck;
  relay.cut();
  t.equal(await response, ended, 'cut');
  await isReady();
  t.equal(await redis.command('GET', 'a'), null);

  await relay.refuse();
  const refused = new Redis(relay.port, '127.0.0.1', { lazyConnect: true, retryStrategy: () => null });
  const failed = new Promise<Error>((resolve) => refused.once('error', resolve));
  await t.rejects(refused.connect());
  t.match(await failed, { code: 'ECONNREFUSED' }, 'refused');
  await relay.restore();
  await isReady();
  t.equal(await outcome(client.set('a', 2)), 'OK');

  relay.blackHole();
  t.equal(await outcome(client.set('a', 3)), timedOut, 'swallowed on an existing connection');
  const lost = new Redis(relay.port, '127.0.0.1', {
    lazyConnect: true,
    commandTimeout: 100,
  });
  lost.on('error', () => {});
  lost.connect().catch(() => {});
  t.equal(await outcome(lost.get('a')), timedOut, 'swallowed on a new one');
  lost.disconnect();
  await eventually('only the other connection', () => relay.open === 1);
  await redis.kill();
  await redis.restart();
  t.equal(relay.open, 1, 'nothing from behind the black hole arrives');
  await relay.restore();
  t.equal(await outcome(client.get('a')), timedOut, 'its connections stay silent');
  const isBack = once(client, 'ready');
  relay.cut();
  await isBack;
  t.equal(await outcome(client.set('a', 4)), 'OK');
});
