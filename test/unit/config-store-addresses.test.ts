import t from 'tap';
import { describeAddress } from '../../src/config/values/postgres-address.ts';
import {
  parseRecordsAddress,
  parseSessionsAddress,
  type RecordsAddress,
  type SessionsAddress,
} from '../../src/config/values/store-addresses.ts';
import { postgresAddress } from '../support/stores/store-addresses.ts';

const postgres = {
  kind: 'postgres',
  host: 'db',
  port: 5432,
  user: 'postgres',
  password: undefined,
  database: 'd',
  schema: 'postern',
  tls: false,
} as const;

const records: Record<string, RecordsAddress> = {
  'sqlite:data/p.db': { kind: 'sqlite', path: 'data/p.db' },
  'sqlite:/var/lib/a b.db': { kind: 'sqlite', path: '/var/lib/a b.db' },
  'postgres://db/d': postgres,
  'postgresql://db/d': postgres,
  'postgres://u@db/d': { ...postgres, user: 'u' },
  'postgres://u:p@db:1/d': { ...postgres, user: 'u', password: 'p', port: 1 },
  'postgres://%40u:p%2F%3A%25@db/%C3%A4?schema=tenant_1': {
    ...postgres,
    user: '@u',
    password: 'p/:%',
    database: 'ä',
    schema: 'tenant_1',
  },
  'postgres://u:@db/d': { ...postgres, user: 'u', password: '' },
  'postgres://u:p:q@db/d': { ...postgres, user: 'u', password: 'p:q' },
  'postgres://[::1]:7/d': { ...postgres, host: '::1', port: 7 },
  'postgres://db/d?sslmode=disable': postgres,
  'postgres://db/d?sslmode=require': { ...postgres, tls: true },
  'postgres://db/d?sslmode=verify-full&schema=s': { ...postgres, tls: true, schema: 's' },
  [`postgres://db/d?schema=${'s'.repeat(63)}`]: { ...postgres, schema: 's'.repeat(63) },
};

for (const [address, parsed] of Object.entries(records))
  t.test(`${address} is the address of records`, async (t) =>
    t.strictSame(parseRecordsAddress(address), parsed),
  );

const redis = { username: undefined, password: undefined, db: 0 } as const;
const plain = { ...redis, kind: 'server', at: { host: 'a', port: 6379 }, tls: false } as const;

const sessions: Record<string, SessionsAddress> = {
  'sqlite:s.db': { kind: 'sqlite', path: 's.db' },
  'redis://a': plain,
  'redis://@a': plain,
  'redis://:@a': plain,
  'redis://:p@a': { ...plain, password: 'p' },
  'redis://u:p%40@[::1]:1/3': {
    ...plain,
    username: 'u',
    password: 'p@',
    at: { host: '::1', port: 1 },
    db: 3,
  },
  'rediss://a': { ...plain, tls: true },
  'redis+unix:run/redis.sock': { ...redis, kind: 'socket', path: 'run/redis.sock' },
  'redis+sentinel://u:p@a:1,[::2]/primary/4': {
    kind: 'sentinel',
    username: 'u',
    password: 'p',
    db: 4,
    name: 'primary',
    sentinels: [
      { host: 'a', port: 1 },
      { host: '::2', port: 26_379 },
    ],
  },
  'redis+cluster://a:7000,b/': {
    ...redis,
    kind: 'cluster',
    nodes: [
      { host: 'a', port: 7000 },
      { host: 'b', port: 6379 },
    ],
  },
};

for (const [address, parsed] of Object.entries(sessions))
  t.test(`${address} is the address of sessions`, async (t) =>
    t.strictSame(parseSessionsAddress(address), parsed),
  );

const refusedRecords = {
  'of another kind': 'mysql://u:secret@db/d',
  'in memory': 'sqlite::memory:',
  'of a file on another host': 'sqlite://secret/p.db',
  'without a host': 'postgres://u:secret@/d',
  'without a database': 'postgres://u:secret@db',
  'with an empty database': 'postgres://u:secret@db/',
  'of several hosts': 'postgres://u:secret@a,b/d',
  'with a port out of range': 'postgres://u:secret@db:65536/d',
  'with port 0': 'postgres://u:secret@db:0/d',
  'with a schema that would have to be quoted': 'postgres://u:secret@db/d?schema=Tenant',
  'with a schema that ends the quotes': 'postgres://u:secret@db/d?schema=a"b',
  'with a schema that is empty': 'postgres://u:secret@db/d?schema=',
  'with a schema of the server’s own': 'postgres://u:secret@db/d?schema=pg_catalog',
  'with a schema too long': `postgres://u:secret@db/d?schema=${'s'.repeat(64)}`,
  'that prefers TLS': 'postgres://u:secret@db/d?sslmode=prefer',
  'that verifies no host name': 'postgres://u:secret@db/d?sslmode=verify-ca',
  'with a parameter that would be ignored': 'postgres://u:secret@db/d?sslrootcert=secret',
  'with a password of malformed percent-encoding': 'postgres://u:secret%@db/d',
  'with a database of malformed percent-encoding': 'postgres://u:secret@db/%ff',
  'with a fragment': 'postgres://u:secret@db/d#secret',
};

for (const [sentence, address] of Object.entries(refusedRecords))
  t.test(`an address of records ${sentence} is refused, and not shown`, async (t) => {
    t.throws(() => parseRecordsAddress(address), RangeError);
    t.throws(() => parseRecordsAddress(address), { message: /^must (?!.*secret)/ });
  });

const refusedSessions = {
  'of another kind': 'memcached://u:secret@a',
  'without a host': 'redis://u:secret@',
  'with an empty database': 'redis://u:secret@a/',
  'with a database that isn’t a number': 'redis://u:secret@a/x',
  'with a query': 'redis://u:secret@a/0?x',
  'of several hosts, where one is expected': 'redis://u:secret@a,b',
  'with a port out of range': 'redis+cluster://u:secret@a,b:65536',
  'of Sentinels without a name': 'redis+sentinel://u:secret@a,b',
  'with a password of malformed percent-encoding': 'rediss://u:secret%@a',
};

for (const [sentence, address] of Object.entries(refusedSessions))
  t.test(`an address of sessions ${sentence} is refused, and not shown`, async (t) => {
    t.throws(() => parseSessionsAddress(address), RangeError);
    t.throws(() => parseSessionsAddress(address), { message: /^must (?!.*secret)/ });
  });

t.test('an address in PostgreSQL is described without user and password', async (t) => {
  const description = describeAddress(postgresAddress('postgres://u:secret@[::1]/d%20d'));
  t.equal(description, 'postgres://[::1]:5432/d%20d?schema=postern');
});
