import t from 'tap';
import { parseHosts } from '../../src/names/hosts.ts';
import { parseNameServices, servicesFor } from '../../src/names/name-services.ts';
import { candidatesOf, parseResolvConf } from '../../src/names/resolv-conf.ts';

t.test('the hosts file', async (t) => {
  const hosts = parseHosts(
    [
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
    ].join('\n'),
  );
  t.strictSame(Object.fromEntries(hosts), {
    localhost: ['127.0.0.1', '::1'],
    'ip6-localhost': ['::1'],
    'app.example': ['10.0.0.1'],
    app: ['10.0.0.1', '10.0.0.2'],
    link: ['fe80::1%eth0'],
  });
});

t.test('the names that a name may stand for', async (t) => {
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

t.test('what nsswitch.conf leaves to us, and what to the C library', async (t) => {
  const rows: [line: string, host: string, services: string[]][] = [
    ['', 'app', ['files', 'dns']],
    ['passwd: files\n#hosts: nis', 'app', ['files', 'dns']],
    ['hosts:          files dns', 'app', ['files', 'dns']],
    ['hosts: dns files', 'app', ['dns', 'files']],
    ['hosts: files # dns', 'app', ['files']],
    ['hosts: files mdns4_minimal [NOTFOUND=return] dns', 'app', ['files', 'dns']],
    ['hosts: files mdns4_minimal [NOTFOUND=return] dns', 'printer.local', ['system']],
    ['hosts: files dns myhostname', 'app', ['files', 'dns']],
    ['hosts: files dns myhostname', 'box', ['system']],
    ['hosts: files dns [SUCCESS=merge] files', 'app', ['system']],
    ['hosts: mymachines resolve [!UNAVAIL=return] files myhostname dns', 'app', ['system']],
    ['hosts: files sss dns', 'app', ['system']],
    ['hosts: files myhostname resolve [!UNAVAIL=return] dns', 'app', ['system']],
  ];
  for (const [line, host, services] of rows)
    t.strictSame(
      servicesFor(host, parseNameServices(line), { name: 'box', servers: ['10.0.0.53'] }),
      services,
      `${host} by ${line}`,
    );
});

t.test('systemd-resolved is asked as a name server where it is one', async (t) => {
  const rows: [sources: string, host: string, services: string[]][] = [
    ['files myhostname resolve [!UNAVAIL=return] dns', 'app', ['files', 'dns']],
    ['files resolve', 'app.example', ['files', 'dns']],
    ['resolve [!UNAVAIL=return] files dns', 'app', ['dns', 'files']],
    ['files resolve [!UNAVAIL=return] dns', 'printer.local', ['system']],
    ['mymachines resolve [!UNAVAIL=return] files myhostname dns', 'app', ['system']],
  ];
  for (const [sources, host, services] of rows)
    t.strictSame(
      servicesFor(host, parseNameServices(`hosts: ${sources}`), { name: 'box', servers: ['127.0.0.53'] }),
      services,
      `${host} by ${sources}`,
    );
});
