import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { NameError } from '../../src/names/name-error.ts';
import { createSystemResolver } from '../../src/names/system-resolver.ts';
import { type DnsRecord, startDnsServer } from '../support/servers/dns-server.ts';

/** A resolver by those files of a system, over a name server with those records, and others after it. */
async function resolverWith(
  t: Test,
  files: Readonly<Record<string, string>>,
  records: Readonly<Record<string, DnsRecord>> = {},
  others: readonly string[] = [],
) {
  const folder = mkdtempSync(join(tmpdir(), 'postern-names-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  for (const [name, text] of Object.entries(files)) write(name, text);
  const server = await startDnsServer(t, records);
  const resolve = createSystemResolver({
    folder,
    machine: 'box',
    servers: [server.address, ...others],
    system: async (host) => [`the C library on ${host}`],
  });
  const outcomeOf = (host: string) =>
    resolve(host).then(
      (addresses) => addresses.join(' '),
      ({ code }: NameError) => code,
    );
  return { server, write, outcomeOf };
}

t.test('a name is searched for as in Kubernetes', async (t) => {
  const { server, outcomeOf } = await resolverWith(
    t,
    { 'resolv.conf': 'search one.test two.test\noptions ndots:5\n' },
    {
      'app.two.test': ['10.0.0.1', '10.0.0.2'],
      'both.one.test': ['10.0.0.3', 'fd00::3'],
      'six.one.test': ['fd00::6'],
      'none.one.test': [],
      'full.example.test': ['10.0.0.4'],
    },
  );
  t.equal(await outcomeOf('app'), '10.0.0.1 10.0.0.2');
  t.strictSame(server.asked, ['app.one.test', 'app.two.test']);
  t.equal(await outcomeOf('Both'), 'fd00::3 10.0.0.3');
  t.equal(await outcomeOf('six'), 'fd00::6');
  t.equal(await outcomeOf('full.example.test.'), '10.0.0.4');
  t.equal(server.asked.at(-1), 'full.example.test');
  t.equal(await outcomeOf('none'), 'ENOTFOUND');
  t.strictSame(server.asked.slice(-3), ['none.one.test', 'none.two.test', 'none']);
});

t.test('a silent name server denies no name', async (t) => {
  const { server, outcomeOf } = await resolverWith(
    t,
    { 'resolv.conf': 'search one.test two.test\n' },
    {
      'silent.one.test': 'silent',
      'silent.two.test': ['10.0.0.1'],
      'failing.one.test': 'fails',
      'failing.two.test': ['10.0.0.2'],
      'broken.one.test': 'fails',
      'half.one.test': 'ipv6 is silent',
      'other.one.test': ['10.0.0.3'],
    },
  );
  const silent = outcomeOf('silent');
  t.equal(await outcomeOf('other'), '10.0.0.3', 'found while another name is silent');
  t.equal(await outcomeOf('missing'), 'ENOTFOUND');
  t.equal(await outcomeOf('half'), '127.0.0.1', 'one family is enough');
  t.equal(await outcomeOf('failing'), '10.0.0.2', 'searched for further');
  t.equal(await outcomeOf('broken'), 'EAI_AGAIN', 'it may exist');
  t.equal(await silent, 'EAI_AGAIN');
  t.notOk(server.asked.includes('silent.two.test'), 'not searched for further');
});

t.test('the hosts file comes first, and a change of it counts at once', async (t) => {
  const { server, write, outcomeOf } = await resolverWith(
    t,
    { hosts: '10.0.0.1 app\n10.0.0.2 app\n' },
    { app: ['10.9.9.9'], other: ['10.0.0.5'] },
  );
  t.equal(await outcomeOf('APP'), '10.0.0.1 10.0.0.2');
  t.strictSame(server.asked, []);
  t.equal(await outcomeOf('app.'), '10.9.9.9', 'which no line lists');
  t.equal(await outcomeOf('other'), '10.0.0.5');
  write('hosts', '10.0.0.3 app # moved\n');
  t.equal(await outcomeOf('app'), '10.0.0.3');
});

t.test('a change of the search list counts at once', async (t) => {
  const { write, outcomeOf } = await resolverWith(
    t,
    {},
    { 'app.one.test': ['10.0.0.1'], 'app.three.test': ['10.0.0.3'] },
  );
  t.equal(await outcomeOf('app'), 'ENOTFOUND');
  write('resolv.conf', 'search one.test');
  t.equal(await outcomeOf('app'), '10.0.0.1');
  write('resolv.conf', 'search three.test');
  t.equal(await outcomeOf('app'), '10.0.0.3');
});

t.test('no name server is asked for local names and addresses', async (t) => {
  const { server, outcomeOf } = await resolverWith(t, {});
  t.equal(await outcomeOf('localhost'), '127.0.0.1 ::1');
  t.equal(await outcomeOf('app.localhost'), '127.0.0.1 ::1');
  t.equal(await outcomeOf('nowhere.invalid'), 'ENOTFOUND');
  for (const host of ['', '.', 'a..b', '\u{d800}']) t.equal(await outcomeOf(host), 'ENOTFOUND', host);
  t.equal(await outcomeOf('fe80::1%lo'), 'fe80::1%lo');
  t.equal(await outcomeOf('127.1'), 'the C library on 127.1');
  t.strictSame(server.asked, []);
});

t.test('another server is asked where one fails', async (t) => {
  const second = await startDnsServer(t, {
    'failing.test': ['10.0.0.2'],
    'refused.test': ['10.0.0.2'],
    'malformed.test': ['10.0.0.2'],
    'silent.test': ['10.0.0.2'],
    'known.test': ['10.0.0.2'],
  });
  const { outcomeOf } = await resolverWith(
    t,
    {},
    {
      'failing.test': 'fails',
      'refused.test': 'refused',
      'malformed.test': 'malformed',
      'silent.test': 'silent',
      'known.test': ['10.0.0.1'],
    },
    [second.address],
  );
  for (const name of ['failing.test', 'refused.test', 'malformed.test', 'silent.test'])
    t.equal(await outcomeOf(name), '10.0.0.2', name);
  t.equal(await outcomeOf('known.test'), '10.0.0.1', 'in order');
  t.equal(await outcomeOf('missing.test'), 'ENOTFOUND');
  t.notOk(second.asked.includes('missing.test'));
});

t.test('a malformed response to one name fails no other one', async (t) => {
  const { outcomeOf } = await resolverWith(t, {}, { 'malformed.test': 'malformed', 'late.test': 'late' });
  const late = outcomeOf('late.test');
  t.equal(await outcomeOf('malformed.test'), 'EAI_AGAIN');
  t.equal(await late, '127.0.0.1');
});

t.test('a name server that is slower than the first timeout is heard', async (t) => {
  const { outcomeOf } = await resolverWith(t, {}, { 'app.test': 'very late' });
  t.equal(await outcomeOf('app.test'), '127.0.0.1');
});

t.test('a long response is fetched by TCP, aliases are followed, and c-ares keeps nothing', async (t) => {
  const many = Array.from({ length: 60 }, (_, i) => `10.0.1.${i}`);
  const { server, outcomeOf } = await resolverWith(
    t,
    {},
    { 'many.test': many, 'app.test': { alias: 'real.test', of: ['10.0.0.7', 'fd00::7'] } },
  );
  t.equal(await outcomeOf('many.test'), many.join(' '));
  t.strictSame(server.byTcp, ['many.test']);
  for (let i = 0; i < 2; i++) t.equal(await outcomeOf('app.test'), 'fd00::7 10.0.0.7');
  t.equal(server.asked.filter((name) => name === 'app.test').length, 2);
});

t.test('IPv6 addresses are left out under no-aaaa', async (t) => {
  const { outcomeOf } = await resolverWith(
    t,
    { 'resolv.conf': 'options no-aaaa' },
    { 'app.test': ['10.0.0.1', 'fd00::1'], 'six.test': ['fd00::1'] },
  );
  t.equal(await outcomeOf('app.test'), '10.0.0.1');
  t.equal(await outcomeOf('six.test'), 'ENOTFOUND');
});

t.test('the C library looks names up where other sources come before name servers', async (t) => {
  const { server, outcomeOf } = await resolverWith(
    t,
    { 'nsswitch.conf': 'hosts: files sss dns\n', hosts: '10.0.0.1 app' },
    { app: ['10.9.9.9'] },
  );
  t.equal(await outcomeOf('app'), 'the C library on app');
  t.strictSame(server.asked, []);
});

t.test(
  'a name that is unknown to files and name servers is looked for in the sources after them',
  async (t) => {
    const { server, outcomeOf } = await resolverWith(
      t,
      { 'nsswitch.conf': 'hosts: files dns myhostname\n', hosts: '10.0.0.1 app' },
      { other: ['10.0.0.2'], broken: 'fails' },
    );
    t.equal(await outcomeOf('app'), '10.0.0.1');
    t.equal(await outcomeOf('other'), '10.0.0.2');
    t.equal(await outcomeOf('box'), 'the C library on box');
    t.equal(await outcomeOf('broken'), 'EAI_AGAIN');
    t.strictSame(server.asked, ['other', 'box', 'broken']);
  },
);
