import t from 'tap';
import {
  describeAddress,
  isPostgresAddress,
  parsePostgresAddress,
} from '../../src/stores/postgres/address.ts';

const defaults = {
  host: 'db',
  port: 5432,
  user: 'postgres',
  password: undefined,
  database: 'postgres',
  schema: 'postern',
  tls: false,
};

const good = {
  'postgres://db': defaults,
  'postgresql://db/': defaults,
  'postgres://u@db': { ...defaults, user: 'u', database: 'u' },
  'postgres://u:p@db:1/d': { ...defaults, user: 'u', password: 'p', port: 1, database: 'd' },
  'postgres://%40u:p%2F%3A%25@db/%C3%A4?schema=tenant_1': {
    ...defaults,
    user: '@u',
    password: 'p/:%',
    database: 'ä',
    schema: 'tenant_1',
  },
  'postgres://u:@db': { ...defaults, user: 'u', database: 'u', password: '' },
  'postgres://[::1]:7/d': { ...defaults, host: '::1', port: 7, database: 'd' },
  'postgres://db?sslmode=require': { ...defaults, tls: true },
  'postgres://db/?sslmode=verify-full&schema=s': { ...defaults, tls: true, schema: 's' },
  [`postgres://db/?schema=${'s'.repeat(63)}`]: { ...defaults, schema: 's'.repeat(63) },
};

for (const [address, parsed] of Object.entries(good)) {
  t.strictSame(parsePostgresAddress(address), parsed, address);
}

const bad = {
  'of another kind': 'mysql://u:secret@db',
  'without a host': 'postgres://u:secret@/d',
  'of several hosts': 'postgres://u:secret@a,b/d?x=1',
  'with a schema that would have to be quoted': 'postgres://u:secret@db/?schema=Tenant',
  'with a schema that ends the quotes': 'postgres://u:secret@db/?schema=a"b',
  'with a schema that is empty': 'postgres://u:secret@db/?schema=',
  'with a schema of the server’s own': 'postgres://u:secret@db/?schema=pg_catalog',
  'with a schema too long': `postgres://u:secret@db/?schema=${'s'.repeat(64)}`,
  'that prefers TLS': 'postgres://u:secret@db/?sslmode=prefer',
  'that verifies no name of a host': 'postgres://u:secret@db/?sslmode=verify-ca',
  'with a parameter that would be ignored': 'postgres://u:secret@db/?sslrootcert=secret',
  'badly encoded': 'postgres://u:secret%@db',
  'with a fragment': 'postgres://u:secret@db/d#secret',
};

for (const [name, address] of Object.entries(bad)) {
  t.test(`an address ${name} is refused, and not shown`, async (t) => {
    t.throws(() => parsePostgresAddress(address), TypeError);
    t.throws(() => parsePostgresAddress(address), { message: /^(?!.*secret)/ });
  });
}

t.test('an address is told from others, and described without who we are', async (t) => {
  t.ok(isPostgresAddress('postgres://db'));
  t.ok(isPostgresAddress('postgresql://db'));
  t.notOk(isPostgresAddress('sqlite:postgres://db'));
  const description = describeAddress(parsePostgresAddress('postgres://u:secret@[::1]/d d'));
  t.equal(description, 'postgres://[::1]:5432/d%20d?schema=postern');
});
