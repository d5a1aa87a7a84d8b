import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import type { RedisStores } from '../../src/stores/redis/open.ts';
import { newTenant, openRedisStoresUnderTest } from '../contract/redis-stores.ts';
import { eventually } from '../support/eventually.ts';
import { isLong } from '../support/gateway-under-load.ts';
import { startScriptedRedis } from '../support/scripted-redis.ts';

const timeout = isLong ? 3_000_000 : 180_000;
t.setTimeout(timeout);

const nested = (depth: number) => `${'*1\r\n'.repeat(depth)}:1\r\n`;
const slotsUpTo = (slot: string) => `*1\r\n*3\r\n:0\r\n:${slot}\r\n*2\r\n$9\r\n127.0.0.1\r\n:1\r\n`;

/** The wrong replies of a server, in latin1. */
const wrongResponses: Readonly<Record<string, string>> = {
  'a nil': '$-1\r\n',
  'a list that is nil': '*-1\r\n',
  'an error': '-ERR no\r\n',
  'an empty error': '-\r\n',
  'a LOADING error': '-LOADING Redis is loading the dataset in memory\r\n',
  'a READONLY error': "-READONLY You can't write against a read only replica.\r\n",
  'a NOAUTH error': '-NOAUTH Authentication required.\r\n',
  'a NOSCRIPT error': '-NOSCRIPT No matching script.\r\n',
  'a MOVED error without a slot': '-MOVED\r\n',
  'a MOVED error with an invalid slot': '-MOVED 99999 nowhere\r\n',
  'an ASK error without an address': '-ASK 1\r\n',
  'a text': '$5\r\nhello\r\n',
  'an empty text': '$0\r\n\r\n',
  'a status': '+QUEUED\r\n',
  'an integer': ':7\r\n',
  'a negative integer': ':-7\r\n',
  'an integer out of range': `:${'9'.repeat(40)}\r\n`,
  'an empty list': '*0\r\n',
  'a list with a nil': '*1\r\n$-1\r\n',
  'a list with three nils': '*3\r\n$-1\r\n$-1\r\n$-1\r\n',
  'a list of lists': '*2\r\n*1\r\n$-1\r\n*0\r\n',
  'a list of errors': '*3\r\n-ERR a\r\n-ERR b\r\n-ERR c\r\n',
  'a list one item short': '*2\r\n$9\r\nsubscribe\r\n$1\r\na\r\n',
  'a message': '*3\r\n$7\r\nmessage\r\n$1\r\na\r\n$1\r\nb\r\n',
  'a message with nils': '*3\r\n$7\r\nmessage\r\n$-1\r\n$-1\r\n',
  'the reply to another command': '*3\r\n$11\r\nunsubscribe\r\n$-1\r\n:0\r\n',
  'deeply nested lists': nested(5_000),
  'an unbounded range of slots': slotsUpTo('9007199254740991'),
  'slots without nodes': '*1\r\n*2\r\n:0\r\n:16383\r\n',
  'slots with a nil node': '*1\r\n*3\r\n:0\r\n:16383\r\n*-1\r\n',
  'two replies': '+OK\r\n$-1\r\n',
  'three nils': '$-1\r\n$-1\r\n*-1\r\n',
  'meaningless bytes': '\x00\xff\xfe\x01\r\n\r\n',
  'a web page': 'HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n<html>',
  'half a reply': '*3\r\n$9\r\nsub',
  'a text longer than its length': '$2\r\nhello\r\n',
  'an unterminated text': '$99999999999\r\nhello',
  'an unterminated list': '*2147483647\r\n:1\r\n',
  'an invalid length': '$x\r\n',
  'an unterminated line': `+${'a'.repeat(100_000)}`,
  'a push': '>3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n',
  'a push with a nil': '>1\r\n_\r\n',
  'an empty push': '>0\r\n',
  'the null of RESP3': '_\r\n',
  'a map': '%1\r\n+a\r\n:1\r\n',
  'a boolean': '#t\r\n',
  'a double': ',1.5\r\n',
  'a big number': '(3492890328409238509324850943850943825024385\r\n',
};

const everywhere = 'auth select client info time subscribe ping evalsha eval zrange'.split(' ');
const remembered = ['hmget', 'exists', 'hgetall'];

/** The commands that are sent, by the scheme of the address. */
const commandsOf: Readonly<Record<string, readonly string[]>> = {
  redis: [...everywhere, ...remembered],
  'redis+sentinel': [
    ...everywhere.filter((name) => name !== 'select'),
    'sentinel get-master-addr-by-name',
    'sentinel sentinels',
  ],
  'redis+cluster': [...everywhere.filter((name) => name !== 'select'), ...remembered, 'cluster slots'],
};

/** Uses everything in the stores, whatever the outcome. */
async function useAll({ sessions, attempts, singleUse }: RedisStores): Promise<void> {
  const id = crypto.randomUUID();
  const times = { idleLifetimeMs: 10_000, absoluteLifetimeMs: 10_000, reuseGraceMs: 1_000 };
  const made = { id, userId: 'user', method: 'password', scope: null, address: '', userAgent: '', epoch: 0 };
  await Promise.allSettled([
    sessions.create(made, times).then(() => sessions.findLive(id)),
    (async () => sessions.findLive(crypto.randomUUID()))(),
    sessions.present(id, 1, times),
    sessions.revokeAllOf('user'),
    (async () => sessions.find(id))(),
    attempts.count([{ key: 'a', points: 1_000_000 }], 1_000),
    singleUse.consume(id, Date.now() + 1_000),
    sessions.ping(),
  ]);
}

let next = 0;
for (const [scheme, commands] of Object.entries(commandsOf))
  t.test(`${scheme}: no reply to any command ends the process`, { timeout }, async (t) => {
    const redis = await startScriptedRedis(t);
    const end = { redis: '/1', 'redis+sentinel': '/master', 'redis+cluster': '' }[scheme];
    const address = `${scheme}://user:password@127.0.0.1:${redis.port}${end}`;
    const stores = await openRedisStoresUnderTest(t, address, {
      tenant: newTenant(),
      livenessAgeMs: 500,
      commandTimeoutMs: 200,
    });
    const names = Object.keys(wrongResponses);
    // A nil each time, and the others in turn; in the long run all of them.
    for (const command of commands)
      for (const name of isLong ? names : ['a nil', names[next++ % names.length]!]) {
        redis.respondWrongly({ command, bytes: wrongResponses[name]! });
        redis.cut();
        await eventually(
          `${command} is sent`,
          async () => {
            await useAll(stores);
            return redis.struck > 0;
          },
          20_000,
        );
        await useAll(stores);
        redis.respondWrongly(null);
        const since = performance.now();
        await eventually(
          `it is available again after ${name} to ${command}`,
          () => stores.sessions.ping().then(() => true),
          10_000,
        );
        t.pass(`${name} to ${command}, available again after ${Math.round(performance.now() - since)} ms`);
        await sleep(0);
      }
  });
