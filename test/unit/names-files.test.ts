import t from 'tap';
import {
  candidatesOf,
  listedAddresses,
  parseNameSources,
  parseResolvConf,
  readEtcFile,
} from '../../src/names/etc-files.ts';

t.test('the hosts file lists addresses by name', async (t) => {
  const text = [
    '# Kubernetes-managed hosts file.',
    '127.0.0.1\tlocalhost',
    '::1 localhost ip6-localhost # both',
    '10.0.0.1 App.Example app',
    '10.0.0.2 app',
    '10.0.0.2 app',
    'fe80::1%eth0 link',
    'nonsense app',
    '10.0.0.3',
    '',
  ].join('\n');
  const expected = {
    localhost: ['127.0.0.1', '::1'],
    'ip6-localhost': ['::1'],
    'app.example': ['10.0.0.1'],
    app: ['10.0.0.1', '10.0.0.2'],
    link: ['fe80::1%eth0'],
    nonsense: [],
    both: [],
  };
  for (const [host, addresses] of Object.entries(expected))
    t.strictSame(listedAddresses(text, host), addresses, host);
});

t.test('a file that is missing is empty, and one that can’t be read denies no name', async (t) => {
  t.equal(readEtcFile('/nonexistent/hosts', 'app'), '');
  t.throws(() => readEtcFile('/', 'app'), { code: 'EAI_AGAIN' });
});

t.test('a name is completed by the search list and ndots', async (t) => {
  const kubernetes =
    'search a.svc.cluster.local svc.cluster.local cluster.local.\nnameserver 10.96.0.10\noptions ndots:5\n';
  const rows: [text: string, machine: string, host: string, names: string[]][] = [
    ['', 'box', 'app', ['app']],
    ['', 'box.example.com', 'app', ['app.example.com', 'app']],
    ['', 'box', 'app.example', ['app.example']],
    ['domain one.example', 'box', 'app', ['app.one.example', 'app']],
    ['search one.example\ndomain two.example', 'box', 'app', ['app.two.example', 'app']],
    ['search one.example two.example', 'box', 'a.b', ['a.b', 'a.b.one.example', 'a.b.two.example']],
    ['search .', 'box', 'app', ['app']],
    ['search one.example . two.example', 'box', 'app', ['app.one.example', 'app', 'app.two.example']],
    ['options ndots:2 rotate\nsearch one.example', 'box', 'a.b', ['a.b.one.example', 'a.b']],
    ['search one.example\noptions ndots:0', 'box', 'app', ['app', 'app.one.example']],
    ['search one.example', 'box', 'app.', ['app']],
    [
      kubernetes,
      'pod',
      'redis.stores',
      [
        'redis.stores.a.svc.cluster.local',
        'redis.stores.svc.cluster.local',
        'redis.stores.cluster.local',
        'redis.stores',
      ],
    ],
  ];
  for (const [text, machine, host, names] of rows)
    t.strictSame(
      candidatesOf(host, parseResolvConf(text, machine)),
      names,
      `${host} by ${JSON.stringify(text)}`,
    );
  t.equal(parseResolvConf('options ndots:99', 'box').ndots, 15);
});

t.test(
  'nsswitch.conf leaves files and name servers to us, in this order, and the rest to the C library',
  async (t) => {
    const rows: [line: string, isUsual: boolean, hasMore?: boolean][] = [
      ['', true],
      ['passwd: files\n#hosts: nis', true],
      ['hosts:          files dns', true],
      ['hosts:\tfiles dns # sss\n', true],
      ['hosts: files dns myhostname', true, true],
      ['hosts: dns files', false],
      ['hosts: files', false],
      ['hosts: files # dns', false],
      ['hosts: files mdns4_minimal [NOTFOUND=return] dns', false, true],
      ['hosts: files dns [SUCCESS=merge] files', false, true],
      ['hosts: files sss dns', false, true],
      ['hosts: files [UNAVAIL=return] dns', false, true],
      ['hosts: files resolve [!UNAVAIL=return] dns', false, true],
      ['hosts: mymachines resolve [!UNAVAIL=return] files myhostname dns', false, true],
    ];
    for (const [line, isUsual, hasMore = false] of rows)
      t.strictSame(parseNameSources(line), { isUsual, hasMore }, line);
  },
);
