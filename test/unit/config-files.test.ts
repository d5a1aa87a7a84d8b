import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { loadConfig } from '../../src/config/load.ts';
import { formatProblem } from '../../src/config/report/problems.ts';
import { makeCertificate } from '../support/servers/certificates.ts';
import { makeAuthority } from '../support/servers/issued-certificates.ts';

const folder = t.testdir({ 'notes.txt': 'no PEM at all\n', 'folder.crt': {} });
const first = makeCertificate(folder, 'first', ['DNS:localhost']);
const second = makeCertificate(folder, 'second', ['DNS:localhost']);
writeFileSync(join(folder, 'chain.crt'), `${first.cert}${second.cert}`);
writeFileSync(join(folder, 'damaged.crt'), `${first.cert}${String(second.cert).replace(/M/, '!')}`);
writeFileSync(join(folder, 'cut.key'), String(first.key).slice(0, 80));
execFileSync(
  'openssl',
  ['ec', '-in', first.keyFile, '-out', join(folder, 'locked.key'), '-aes256', '-passout', 'pass:x'],
  {
    stdio: 'ignore',
  },
);

const authority = makeAuthority(folder, 'root');
const isAuthority = ['basicConstraints = critical, CA:TRUE'];
const issued = authority.issue('issued', { extensions: isAuthority });
writeFileSync(join(folder, 'bundle.crt'), `${issued.cert}${readFileSync(authority.caFile)}`);
authority.issue('short', { key: ['-newkey', 'rsa:1024'] });
const old = authority.issue('old', { from: -3, to: -2 });
const early = authority.issue('early', { from: 2, to: 3 });
const oldRoot = makeAuthority(folder, 'old-root', -1);

const upstream = 'upstreams: { app: { url: "https://127.0.0.1:9", tls: { ca: first.crt } } }\n';
const route = 'routes: [{ prefix: /, upstream: app }]\n';

function load(sections: string, rest = upstream + route) {
  const file = join(folder, 'postern.yaml');
  const proxies = sections.includes('trusted_proxies') ? '' : '\ntrusted_proxies: []';
  writeFileSync(file, `tenant: acme\nbase_url: https://acme.example.com\n${sections}\n${rest}${proxies}`);
  const loaded = loadConfig(file, {});
  return { ...loaded, lines: (loaded.problems ?? []).map((problem) => formatProblem('f', problem)) };
}

const listen = (cert: string, key: string) => `listen: { tls: { cert: ${cert}, key: ${key} } }`;

const clientCa = (file: string) => `listen: { tls: { cert: first.crt, key: first.key, client_ca: ${file} } }`;

writeFileSync(join(folder, 'k32'), Buffer.alloc(32, 10));
writeFileSync(join(folder, 'k32n'), `${'k'.repeat(32)}\n`);
writeFileSync(join(folder, 'k33'), 'k'.repeat(33));
const encryption = (...files: readonly string[]) => {
  const keys = files.map((file, index) => `{ id: k${index}, file: ${file} }`);
  return `stores: { records_encryption: { keys: [ ${keys.join(', ')} ] } }`;
};

const rows: [sentence: string, yaml: string, ...lines: string[]][] = [
  ['a certificate and its key', listen('first.crt', 'first.key')],
  ['a chain, whose first certificate has the key', listen('chain.crt', 'first.key')],
  ['keys of 32 bytes, one with a newline at the end', encryption('k32', 'k32n')],
  [
    'keys that are none',
    encryption('none', 'k33', 'notes.txt'),
    "f:3:57: stores.records_encryption.keys[0].file: can't be read: no such file (ENOENT) (none)",
    'f:3:81: stores.records_encryption.keys[1].file: must hold 32 bytes; it has 33 (k33)',
    'f:3:104: stores.records_encryption.keys[2].file: must hold 32 bytes; it has 14 (notes.txt)',
  ],
  [
    'two keys of one id',
    'stores: { records_encryption: { keys: [ { id: a, file: k32 }, { id: a, file: k32 } ] } }',
    'f:3:69: stores.records_encryption.keys[1].id: is the id of an earlier key (a)',
  ],
  [
    'files that are not there, each with its place',
    listen('none.crt', 'none.key'),
    "f:3:24: listen.tls.cert: can't be read: no such file (ENOENT) (none.crt)",
    "f:3:39: listen.tls.key: can't be read: no such file (ENOENT) (none.key)",
  ],
  [
    'a folder in place of a certificate',
    listen('folder.crt', 'first.key'),
    "f:3:24: listen.tls.cert: can't be read: it is a folder (EISDIR) (folder.crt)",
  ],
  [
    'a file without a certificate',
    listen('notes.txt', 'first.key'),
    'f:3:24: listen.tls.cert: must contain a PEM certificate (notes.txt)',
  ],
  [
    'a damaged certificate in a chain',
    listen('damaged.crt', 'first.key'),
    'f:3:24: listen.tls.cert: must contain PEM certificates only, and one is damaged (damaged.crt)',
  ],
  [
    'a key that is cut off',
    listen('first.crt', 'cut.key'),
    'f:3:40: listen.tls.key: must contain a usable PEM private key (cut.key)',
  ],
  [
    'a key with a passphrase',
    listen('first.crt', 'locked.key'),
    'f:3:40: listen.tls.key: must be a private key without a passphrase (locked.key)',
  ],
  [
    'the key of another certificate',
    listen('first.crt', 'second.key'),
    'f:3:40: listen.tls.key: must be the private key of the first certificate in cert (second.key)',
  ],
  [
    'the two files exchanged',
    listen('first.key', 'first.crt'),
    'f:3:24: listen.tls.cert: must contain a PEM certificate (first.key)',
    'f:3:40: listen.tls.key: must contain a usable PEM private key (first.crt)',
  ],
  ['a root for the certificates of clients', clientCa('root.crt')],
  ['several authorities, one of them a root', clientCa('bundle.crt')],
  [
    'an authority for clients that is not there',
    clientCa('none.crt'),
    "f:3:62: listen.tls.client_ca: can't be read: no such file (ENOENT) (none.crt)",
  ],
  [
    'an authority for clients that is no certificate',
    clientCa('notes.txt'),
    'f:3:62: listen.tls.client_ca: must contain a PEM certificate (notes.txt)',
  ],
  [
    'authorities for clients, one of them damaged',
    clientCa('damaged.crt'),
    'f:3:62: listen.tls.client_ca: must contain PEM certificates only, and one is damaged (damaged.crt)',
  ],
  [
    'an authority that another one has issued, which is not there',
    clientCa('issued.crt'),
    'f:3:62: listen.tls.client_ca: must contain a root: an authority whose certificate it has issued itself (issued.crt)',
  ],
  [
    'a mode of client certificates without an authority',
    'listen: { tls: { cert: first.crt, key: first.key, client_certificate: request } }',
    'f:3:71: listen.tls.client_certificate: requires client_ca (request)',
  ],
  [
    'an RSA key that is too short',
    listen('short.crt', 'short.key'),
    'f:3:24: listen.tls.cert: must be usable for TLS: ERR_SSL_EE_KEY_TOO_SMALL (short.crt)',
  ],
  [
    'an authority without a certificate, towards both stores',
    `stores:
  records: postgres://db/postern
  records_tls: { ca: notes.txt }
  sessions: rediss://cache
  sessions_tls: { ca: none.crt }`,
    'f:5:22: stores.records_tls.ca: must contain a PEM certificate (notes.txt)',
    "f:7:23: stores.sessions_tls.ca: can't be read: no such file (ENOENT) (none.crt)",
  ],
];

for (const [sentence, yaml, ...lines] of rows)
  t.test(sentence, async (t) => {
    t.strictSame(load(yaml).lines, lines);
  });

t.test('an unusable file is a source, because it may be repaired', async (t) => {
  const broken = load(listen('first.crt', 'second.key'));
  t.strictSame(
    broken.sources,
    ['postern.yaml', 'first.crt', 'second.key'].map((name) => join(folder, name)),
  );
  t.equal(broken.problems && broken.hasFileProblems, true);
  t.strictSame(load(listen('first.crt', 'first.key')).sources, [join(folder, 'postern.yaml')]);
});

t.test('a setting that is valid but probably unintended is a warning', async (t) => {
  const { warnings } = load(`trusted_proxies: [10.0.0.0/8, 0.0.0.0/0, "::/0", "::ffff:0:0/96", 128.0.0.0/1]
scopes: { store:read: Read, store:raed: Misspelt, store:give: Given }
identity_providers:
  idp:
    issuer: https://idp.example
    client_id: postern
    redirect_uri: https://acme.example.com/
    grants: [{ claim: groups, value: a, scopes: [store:read, store:give] }]`) as {
    warnings?: readonly any[];
  };
  const everyone = 'trusts every address: list only those of your proxies';
  t.strictSame(
    warnings?.map((warning) => formatProblem('f', warning)),
    [
      `f:3:31: trusted_proxies[1]: ${everyone} (0.0.0.0/0)`,
      `f:3:42: trusted_proxies[2]: ${everyone} (::/0)`,
      `f:3:50: trusted_proxies[3]: ${everyone} (::ffff:0:0/96)`,
      `f:3:67: trusted_proxies[4]: ${everyone} (128.0.0.0/1)`,
      'f:4:29: scopes.store:raed: no route, user, scope set or grant of this file uses this scope; those in the records are not counted',
    ],
  );
});

t.test('names and addresses that people give themselves, told to a service, are a warning', async (t) => {
  const warningsOf = (idp: string, other = '', mail = 'email') => {
    const sections = `upstreams:
  app:
    url: http://127.0.0.1:9000
    identity_headers: { Remote-User: username, X-Mail: ${mail}, X-Id: subject }
identity_providers:
  corp:
    issuer: https://idp.example
    client_id: postern
    redirect_uri: https://acme.example.com/
    ${idp}
${other}`;
    const { warnings } = load(sections, route) as { warnings?: readonly any[] };
    return warnings?.map((warning) => formatProblem('f', warning));
  };
  const key = 'upstreams.app.identity_headers';
  const address = (who: string) =>
    `f:6:48: ${key}.X-Mail: sends e-mail addresses that may be unverified: add require: { email_verified: true } to ${who}`;
  const name = (who: string) =>
    `f:6:25: ${key}.Remote-User: sends user names that people may have chosen themselves: ${who} has accounts: create`;
  t.strictSame(warningsOf('require: {}'), [name('corp'), address('corp')]);
  t.strictSame(warningsOf('accounts: existing'), [address('corp')]);
  for (const verified of ['true', '"true"'])
    t.strictSame(warningsOf(`require: { email_verified: ${verified} }`), [name('corp')]);
  t.strictSame(warningsOf('require: { email_verified: true }\n    accounts: existing'), []);
  const second = `  pub:
    issuer: https://pub.example
    client_id: postern
    redirect_uri: https://acme.example.com/`;
  t.strictSame(warningsOf('accounts: existing', second), [name('pub'), address('corp, pub')]);
  const asClaims = (keep: string) => {
    const warned = warningsOf(`accounts: existing\n    keep: { ${keep} }`, '', 'claim:mail') ?? [];
    return warned.map((line) => line.replace(/ \(.*/, ''));
  };
  for (const keep of ['mail: email', 'mail: /email', 'name: name, mail: email'])
    t.strictSame(asClaims(keep), [address('corp')], keep);
  t.strictSame(asClaims('mail: upn'), [], 'a claim that the profile does not take for an address');
  t.strictSame(asClaims('mail: upn }\n    claims: { email: upn'), [address('corp')]);
});

t.test('a credential of the service’s on a public route is a warning', async (t) => {
  const warningsOf = (header: string) => {
    const sections = `upstreams: { app: { url: http://127.0.0.1:9000, headers: { ${header}: geheim } } }
routes:
  - { prefix: /, upstream: app }
  - { prefix: /open, upstream: app, public: true }`;
    const { warnings } = load(sections, '') as { warnings?: readonly any[] };
    return warnings?.map((warning) => formatProblem('f', warning));
  };
  t.strictSame(warningsOf('authorization'), [
    'f:6:45: routes[1].public: lets anyone use the Authorization of upstreams.app.headers: the service takes everyone for its owner (true)',
  ]);
  t.strictSame(warningsOf('X-Shared-Secret'), []);
});

t.test('a certificate outside its time is a warning, in every file that has one', async (t) => {
  const timeOf = (pem: Buffer, which: 'validToDate' | 'validFromDate') =>
    new X509Certificate(pem)[which].toISOString();
  writeFileSync(join(folder, 'old-chain.crt'), `${first.cert}${old.cert}`);
  const warningsOf = (yaml: string) => {
    const loaded = load(yaml) as { warnings?: readonly any[] };
    return loaded.warnings?.map((warning) => formatProblem('f', warning, 'warning: '));
  };
  t.strictSame(warningsOf(listen('first.crt', 'first.key')), []);
  t.strictSame(warningsOf(listen('old.crt', 'old.key')), [
    `f:3:24: warning: listen.tls.cert: the certificate CN=old has expired (${timeOf(old.cert, 'validToDate')}) (old.crt)`,
  ]);
  t.strictSame(warningsOf(listen('early.crt', 'early.key')), [
    `f:3:24: warning: listen.tls.cert: the certificate CN=early is not valid yet (${timeOf(early.cert, 'validFromDate')}) (early.crt)`,
  ]);
  t.match(warningsOf(listen('old-chain.crt', 'first.key')), [/CN=old has expired/], 'in a chain');
  t.match(warningsOf(clientCa('old-root.crt')), [
    /listen\.tls\.client_ca: .* CN=old-root,O=Acme has expired/,
  ]);
  t.ok(oldRoot);
  const records = 'stores: { records: postgres://db/postern, records_tls: { ca: old-root.crt } }';
  t.match(warningsOf(records), [/stores\.records_tls\.ca: .* has expired/]);
});
