import { promises as dns } from 'node:dns';
import { writeFileSync } from 'node:fs';
import t, { type Test } from 'tap';
import { createSystemResolver } from '../../src/names/system-resolver.ts';
import { type DnsRecord, startDnsServer } from '../support/servers/dns-server.ts';
import { testInOwnNetwork } from '../support/servers/own-network.ts';

type Files = Readonly<Record<'hosts' | 'resolv.conf' | 'nsswitch.conf', string>>;

const etc: Files = {
  'resolv.conf': 'nameserver 127.0.0.1\noptions timeout:1 attempts:1\n',
  'nsswitch.conf': 'hosts: files dns\n',
  hosts: '127.0.0.1 localhost\n::1 localhost\n10.0.0.1 Listed.One.test listed\n10.0.0.2 listed\n',
};
const servers = 'nameserver 127.0.0.1\nnameserver 127.0.0.2\noptions timeout:1 attempts:1\n';

const records: Readonly<Record<string, DnsRecord>> = {
  app: ['10.1.0.1'],
  'app.one.test': ['10.1.0.2', 'fd00::2'],
  'app.two.test': ['10.1.0.3'],
  'only.two.test': ['10.1.0.4', '10.1.0.5'],
  'a.b': ['10.1.0.6'],
  'a.b.one.test': ['10.1.0.7'],
  'six.one.test': ['fd00::6'],
  'none.one.test': [],
  'none.two.test': ['10.1.0.8'],
  'failing.one.test': 'fails',
  'failing.two.test': ['10.1.0.9'],
  'broken.test': 'fails',
  'refused.test': 'refused',
  'silent.test': 'silent',
  'alias.test': { alias: 'real.test', of: ['10.1.1.1', 'fd00::1:1'] },
  'many.test': Array.from({ length: 60 }, (_, i) => `10.2.0.${i}`),
  'under_score.one.test': ['10.1.1.2'],
  listed: ['10.9.9.9'],
  'xn--kln-sna.test': ['10.1.1.4'],
  '1.2': ['10.1.1.3'],
};
const secondRecords: Readonly<Record<string, DnsRecord>> = {
  'broken.test': ['10.3.0.1'],
  'refused.test': ['10.3.0.2'],
  'silent.test': ['10.3.0.3'],
};

const names = [
  ...['app', 'APP', 'app.', 'app.one.test', 'app.one.test.', 'only', 'a.b', 'six', 'none', 'failing'],
  ...['missing', 'missing.test', 'alias.test', 'many.test', 'under_score', 'listed', 'LISTED'],
  ...[
    'listed.one.test',
    'link',
    'localhost',
    'nowhere.invalid',
    '127.1',
    '0x7f000001',
    '10.0.0.1',
    '::1',
    '1.2',
    'Köln.test',
    'a b',
    'ａpp',
  ],
  ...['a..b', '.', `${'x'.repeat(64)}.test`],
];
/** What a name server fails for. */
const failing = ['broken.test', 'refused.test'];

const settings: readonly (readonly [title: string, files: Partial<Files>, ...more: string[]])[] = [
  ['without a search list', {}, ...failing],
  ['a search list', { 'resolv.conf': `${etc['resolv.conf']}search one.test two.test\n` }],
  [
    'the options of Kubernetes',
    { 'resolv.conf': `${etc['resolv.conf']}search one.test two.test\noptions ndots:5\n` },
  ],
  ['a domain', { 'resolv.conf': `${etc['resolv.conf']}search one.test\ndomain two.test\n` }],
  ['the root in the list', { 'resolv.conf': `${etc['resolv.conf']}search . two.test.\n` }],
  ['two name servers', { 'resolv.conf': servers }, ...failing, 'silent.test'],
  ['no IPv6', { 'resolv.conf': `${etc['resolv.conf']}search one.test\noptions no-aaaa\n` }],
  ['no name server in nsswitch.conf', { 'nsswitch.conf': 'hosts: files\n' }],
  // There the C library forgets that the name servers have failed.
  ['name servers before the hosts file', { 'nsswitch.conf': 'hosts: dns files\n' }],
  ['a changed hosts file', { hosts: '127.0.0.1 localhost\n10.0.0.9 listed app\n' }, ...failing],
];

/** The addresses without their order, which the C library changes by the routes there are. */
async function outcomeOf(found: Promise<readonly string[]>): Promise<string> {
  try {
    return [...new Set(await found)].toSorted().join(' ');
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code);
  }
}

async function getaddrinfo(host: string): Promise<readonly string[]> {
  return (await dns.lookup(host, { all: true })).map(({ address }) => address);
}

/** One resolver sees all changes to the files. */
const resolve = createSystemResolver();

async function compare(t: Test, files: Partial<Files>, names: readonly string[]): Promise<void> {
  for (const [name, text] of Object.entries({ ...etc, ...files })) writeFileSync(`/etc/${name}`, text);
  for (const name of names) {
    const theirs = await outcomeOf(getaddrinfo(name));
    t.equal(await outcomeOf(resolve(name)), theirs, `${name}: ${theirs.slice(0, 60)}`);
  }
}

/** The minor version of the C library of this process; 0: it is no glibc. */
function glibcVersion(): number {
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } };
  return Number(header.glibcVersionRuntime?.split('.')[1] ?? 0);
}

testInOwnNetwork(import.meta.filename, etc, () => {
  t.test('names are found as getaddrinfo(3) finds them', { timeout: 200_000 }, async (t) => {
    if (glibcVersion() < 36) {
      t.pass('needs glibc 2.36', { skip: 'this C library does not know all of these settings' });
      return;
    }
    await startDnsServer(t, records, 53);
    await startDnsServer(t, secondRecords, 53, '127.0.0.2');
    for (const [title, files, ...more] of settings)
      await t.test(title, (t) => compare(t, files, [...names, ...more]));
  });
});
