import t from 'tap';
import { createFindHost, type NamesHost } from '../../src/http/named-hosts.ts';

const hosts = [
  'https://wiki.example.com',
  'https://*.preview.example.dev:8443',
  'https://pr-1.preview.example.dev',
  'https://10.0.0.1',
  'https://[2001:db8::1]:8443',
  'https://*.example.com',
];
const find = createFindHost({
  hosts,
  baseUrl: 'https://gate.example.com:8443',
  console: 'https://console.example.com',
});

/** A request with these `Host` and `X-Forwarded-Host`; `described`: that of a decision. */
function request(options: {
  readonly host?: readonly string[];
  readonly forwarded?: readonly string[];
  readonly trusted?: boolean;
  readonly described?: string;
}): NamesHost {
  const { host = [], forwarded = [], trusted = true, described = null } = options;
  return {
    head: {
      host: host.at(0) ?? '',
      hostCount: host.length,
      forwardedHost: forwarded.at(0) ?? '',
      forwardedHostCount: forwarded.length,
    },
    fromTrustedProxy: trusted,
    describedHost: described,
  };
}

/** The index of the entry that a host has; null: none. */
const entryOf = (host: string) => find(request({ host: [host] })).named?.entry ?? null;

t.test('case, port and one dot at the end of a name don’t matter', async (t) => {
  for (const host of [
    'wiki.example.com',
    'WIKI.Example.COM',
    'wiki.example.com.',
    'wiki.example.com:443',
    'wiki.example.com:8080',
    'wiki.example.com:',
    'wiki.example.com:00443',
    'Wiki.example.com.:1',
  ])
    t.match(
      find(request({ host: [host] })),
      { text: host, isBaseUrl: false, named: { name: 'wiki.example.com', origin: hosts[0]!, entry: 0 } },
      host,
    );
  t.equal(entryOf('[2001:db8::1]'), 4);
  t.equal(entryOf('[2001:DB8::1]:9'), 4);
  t.equal(entryOf('10.0.0.1'), 3);
  t.equal(entryOf('10.0.0.1.:80'), 3);
});

t.test('a wildcard stands for one whole label of 1 to 63 letters, digits, - and _', async (t) => {
  for (const label of ['a', 'A', '7', 'a-b', '-', 'a_b', '_', 'xn--bcher-kva', 'a'.repeat(63)])
    t.match(
      find(request({ host: [`${label}.preview.example.dev`] })).named,
      {
        entry: 1,
        name: `${label.toLowerCase()}.preview.example.dev`,
        origin: `https://${label.toLowerCase()}.preview.example.dev:8443`,
      },
      label,
    );
  for (const host of [
    'preview.example.dev',
    'a.b.preview.example.dev',
    `${'a'.repeat(64)}.preview.example.dev`,
    'a-preview.example.dev',
    'a.preview.example.dev.example',
  ])
    t.equal(entryOf(host), null, host);
  t.throws(() => entryOf('.preview.example.dev'), { code: 'bad_request' });
  t.throws(() => entryOf('*.preview.example.dev'), { code: 'bad_request' });
});

t.test('an exact entry is found before a wildcard, and our own names before both', async (t) => {
  t.equal(entryOf('pr-1.preview.example.dev'), 2);
  t.equal(entryOf('wiki.example.com'), 0);
  t.equal(entryOf('other.example.com'), 5);
  t.match(find(request({ host: ['GATE.example.com.:1'] })), { named: null, isBaseUrl: true });
  t.match(find(request({ host: ['console.example.com'] })), { named: null, isBaseUrl: false });
});

t.test('pages of the host’s own origin alone are known there', async (t) => {
  const { named } = find(request({ host: ['a.preview.example.dev'] }));
  const rows: [origin: string, isOwn: boolean][] = [
    ['https://a.preview.example.dev:8443', true],
    ['https://a.preview.example.dev', false],
    ['http://a.preview.example.dev:8443', false],
    ['https://b.preview.example.dev:8443', false],
    ['https://*.preview.example.dev:8443', false],
    ['https://gate.example.com:8443', false],
    ['null', false],
    ['', false],
  ];
  for (const [origin, isOwn] of rows) t.equal(named!.isOwnOrigin(origin), isOwn, origin);
});

const unreadable = [
  '',
  ' ',
  '.',
  '..',
  ':80',
  'a..example.com',
  '.wiki.example.com',
  'wiki.example.com..',
  'wiki.example.com:a',
  'wiki.example.com:80:80',
  'wiki.example.com:-1',
  'wiki.example.com, wiki.example.com',
  'wiki.example.com,notes.example.com',
  'me@wiki.example.com',
  'wiki.example.com/',
  'https://wiki.example.com',
  'wiki.example.com?',
  'wiki.example.com#',
  'wiki.example.com\\',
  'wiki example.com',
  'wiki%2eexample.com',
  'bücher.example.com',
  '*',
  '[::1',
  '::1',
  '[::g]',
  '[]',
  '[1.2.3.4]',
  '[::1]x',
  '[::1].',
  '[fe80::1%eth0]',
  'a'.repeat(262),
];

t.test('a text that is neither a name nor an address is no host, wherever it is sent', async (t) => {
  for (const text of unreadable)
    for (const [what, names] of Object.entries({
      host: request({ host: [text] }),
      forwarded: request({ host: ['wiki.example.com'], forwarded: [text] }),
      'beside a good one': request({ host: [text], forwarded: ['wiki.example.com'] }),
      described: request({ described: text }),
    }))
      t.throws(() => find(names), { code: 'bad_request' }, `${what}: ${JSON.stringify(text)}`);
});

t.test('other names and addresses are hosts without an entry', async (t) => {
  for (const text of [
    'localhost',
    'a',
    '127.0.0.1:8080',
    '[::1]',
    '[::ffff:10.0.0.1]:80',
    'a_b.c-d.e',
    '1.2.3',
  ])
    t.match(find(request({ host: [text] })), { text, named: null, isBaseUrl: false }, text);
  t.match(find(request({})), { text: '', named: null, isBaseUrl: false }, 'HTTP/1.0 needs none');
});

t.test('X-Forwarded-Host counts from a trusted proxy, once', async (t) => {
  const [wiki, other] = ['wiki.example.com', 'internal:8080'];
  const entry = (options: Parameters<typeof request>[0]) => find(request(options)).named?.entry ?? null;
  t.equal(entry({ host: [other], forwarded: [wiki] }), 0);
  t.equal(entry({ host: [other], forwarded: [wiki], trusted: false }), null);
  t.equal(entry({ host: [other], forwarded: ['', wiki], trusted: false }), null, 'nor is it looked at');
  t.equal(entry({ host: [wiki], forwarded: [] }), 0);
  t.equal(entry({ host: [wiki], forwarded: ['elsewhere.example'] }), null, 'the proxy knows better');
  t.equal(entry({ host: [], forwarded: [wiki] }), 0);
  t.throws(() => find(request({ host: [other], forwarded: [wiki, wiki] })), { code: 'bad_request' });
  t.throws(() => find(request({ host: [wiki, wiki], forwarded: [wiki] })), { code: 'bad_request' });
  t.throws(() => find(request({ host: [wiki, wiki] })), { code: 'bad_request' });
});

t.test('the two are refused where they name different hosts of the configuration', async (t) => {
  const rows: [host: string, forwarded: string, isRefused: boolean][] = [
    ['wiki.example.com', 'WIKI.example.com.:443', false],
    ['wiki.example.com', 'a.preview.example.dev', true],
    ['a.preview.example.dev', 'b.preview.example.dev', true],
    ['a.preview.example.dev', 'A.preview.example.dev:1', false],
    ['gate.example.com', 'wiki.example.com', true],
    ['wiki.example.com', 'gate.example.com', true],
    ['gate.example.com', 'console.example.com', true],
    ['console.example.com', 'wiki.example.com', true],
    ['gate.example.com:8443', 'gate.example.com', false],
    ['elsewhere.example', 'wiki.example.com', false],
    ['elsewhere.example', 'internal', false],
  ];
  for (const [host, forwarded, isRefused] of rows) {
    const names = request({ host: [host], forwarded: [forwarded] });
    if (isRefused)
      t.throws(
        () => find(names),
        { code: 'bad_request', options: { reason: 'proxy and client name different hosts' } },
        `${host} ${forwarded}`,
      );
    else t.equal(find(names).text, forwarded, `${host} ${forwarded}`);
  }
});

t.test('of a decision, the described host alone is read', async (t) => {
  const names = request({ host: ['x', 'y'], forwarded: ['a', 'b'], described: 'wiki.example.com' });
  t.equal(find(names).named?.entry, 0);
  t.equal(find(request({ described: 'gate.example.com' })).isBaseUrl, true);
});

t.test('a reading that is kept is that of the same text', async (t) => {
  const own = createFindHost({ hosts, baseUrl: 'https://gate.example.com', console: undefined });
  const names = Array.from({ length: 3_000 }, (_, index) => `h${index % 1_500}.preview.example.dev`);
  t.strictSame(
    names.map((name) => own(request({ host: [name] })).named?.name),
    names,
  );
});
