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

/** What a server may say in place of a response, in latin1. */
const wrongResponses: Readonly<Record<string, string>> = {
  'a nil': '$-1\r\n',
  'a list that is nil': '*-1\r\n',
  'an error': '-ERR no\r\n',
  'an error without a word': '-\r\n',
  'that it is loading': '-LOADING Redis is loading the dataset in memory\r\n',
  'that it is read-only': "-READONLY You can't write against a read only replica.\r\n",
  'that a password is missing': '-NOAUTH Authentication required.\r\n',
  'that it knows no script': '-NOSCRIPT No matching script.\r\n',
  'that it has moved': '-MOVED\r\n',
  'that it has moved to nowhere': '-MOVED 99999 nowhere\r\n',
  'that somebody else is to be asked': '-ASK 1\r\n',
  'a text': '$5\r\nhello\r\n',
  'a text of nothing': '$0\r\n\r\n',
  'a status': '+QUEUED\r\n',
  'an integer': ':7\r\n',
  'a negative integer': ':-7\r\n',
  'an integer beyond all': `:${'9'.repeat(40)}\r\n`,
  'a list of nothing': '*0\r\n',
  'a list of a nil': '*1\r\n$-1\r\n',
  'a list of three nils': '*3\r\n$-1\r\n$-1\r\n$-1\r\n',
  'a list of lists': '*2\r\n*1\r\n$-1\r\n*0\r\n',
  'a list of errors': '*3\r\n-ERR a\r\n-ERR b\r\n-ERR c\r\n',
  'a list that is short of one': '*2\r\n$9\r\nsubscribe\r\n$1\r\na\r\n',
  'a message': '*3\r\n$7\r\nmessage\r\n$1\r\na\r\n$1\r\nb\r\n',
  'a message of nils': '*3\r\n$7\r\nmessage\r\n$-1\r\n$-1\r\n',
  'the answer to another command': '*3\r\n$11\r\nunsubscribe\r\n$-1\r\n:0\r\n',
  'lists in lists in lists': nested(5_000),
  'slots without end': slotsUpTo('9007199254740991'),
  'slots of nobody': '*1\r\n*2\r\n:0\r\n:16383\r\n',
  'slots of a nil': '*1\r\n*3\r\n:0\r\n:16383\r\n*-1\r\n',
  'two answers': '+OK\r\n$-1\r\n',
  'three nils': '$-1\r\n$-1\r\n*-1\r\n',
  'bytes without a meaning': '\x00\xff\xfe\x01\r\n\r\n',
  'a web page': 'HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n<html>',
  'half of an answer': '*3\r\n$9\r\nsub',
  'a text longer than it says': '$2\r\nhello\r\n',
  'a text without its end': '$99999999999\r\nhello',
  'a list without its end': '*2147483647\r\n:1\r\n',
  'a length that is none': '$x\r\n',
  'a line without its end': `+${'a'.repeat(100_000)}`,
  'a push': '>3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n',
  'a push of a nil': '>1\r\n_\r\n',
  'a push of nothing': '>0\r\n',
  'the null of RESP3': '_\r\n',
  'a map': '%1\r\n+a\r\n:1\r\n',
  'a truth': '#t\r\n',
  'a fraction': ',1.5\r\n',
  'a number without bounds': '(3492890328409238509324850943850943825024385\r\n',
};

const everywhere = 'auth select client info time subscribe ping evalsha eval zrange'.split(' ');
const remembered = ['hmget', 'exists', 'hgetall'];

/** Commands that are sent, by what the address says of the store. */
const commandsOf: Readonly<Record<string, readonly string[]>> = {
  redis: [...everywhere, ...remembered],
  'redis+sentinel': [
    ...everywhere.filter((name) => name !== 'select'),
    'sentinel get-master-addr-by-name',
    'sentinel sentinels',
  ],
  'redis+cluster': [...everywhere.filter((name) => name !== 'select'), ...remembered, 'cluster slots'],
};

/** Does all that is done with the stores, whatever comes of it. */
async function useAll({ sessions, attempts, singleUse }: RedisStores): Promise<void> {
  const id = crypto.randomUUID();
  const times = { idleLifetimeMs: 10_000, absoluteLifetimeMs: 10_000, reuseGraceMs: 1_000 };
  const made = { id, userId: 'user', method: 'password', scope: null, address: '', userAgent: '' };
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
  t.test(
    `${scheme}: whatever is answered to whatever command, the process goes on`,
    { timeout },
    async (t) => {
      const redis = await startScriptedRedis(t);
      const end = { redis: '/1', 'redis+sentinel': '/master', 'redis+cluster': '' }[scheme];
      const address = `${scheme}://user:password@127.0.0.1:${redis.port}${end}`;
      const stores = await openRedisStoresUnderTest(t, address, {
        tenant: newTenant(),
        livenessAgeMs: 500,
        commandTimeoutMs: 200,
      });
      const names = Object.keys(wrongResponses);
      // A nil each time, and of the others each in its turn; in the long run all of them.
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
            `it is back after ${name} to ${command}`,
            () => stores.sessions.ping().then(() => true),
            10_000,
          );
          t.pass(`${name} to ${command}, back after ${Math.round(performance.now() - since)} ms`);
          await sleep(0);
        }
    },
  );
