import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { loadConfig } from '../../src/config/load.ts';
import { formatProblem } from '../../src/config/report/problems.ts';
import { type Row, testRows } from './config-rows.ts';

const folder = t.testdir({});
const secret = 'x'.repeat(32);

/** What `check` says of upstreams, each given by what follows its url; null: the configuration is valid. */
function load(upstreams: Readonly<Record<string, string>>, env: NodeJS.ProcessEnv = {}) {
  const lines = Object.entries(upstreams).map(([name, rest]) => `  ${name}: { url: builtin:echo, ${rest} }`);
  const [first] = Object.keys(upstreams);
  const file = join(folder, 'postern.yaml');
  writeFileSync(
    file,
    `tenant: acme\nbase_url: https://acme.example.com\nroutes: [{ prefix: /, upstream: ${first} }]\nupstreams:\n${lines.join('\n')}\n`,
  );
  const { config, problems, sources } = loadConfig(file, env);
  return { config, sources, problems: problems?.map((problem) => formatProblem('f', problem)) ?? null };
}

/** The secret that a file of these bytes holds. */
function secretOf(content: string | Buffer) {
  writeFileSync(join(folder, 'app.secret'), content);
  const loaded = load({ app: 'assertion: { algorithm: HS256, secret: { file: app.secret } }' });
  return { ...loaded, secret: loaded.config?.upstreams.app?.assertion?.secret };
}

t.test('an assertion has defaults', async (t) => {
  const { config } = load({ app: 'assertion: {}' });
  t.strictSame(config?.upstreams.app?.assertion, { algorithm: 'EdDSA', lifetime: 30_000 });
});

t.test('a secret is the bytes of its file less one trailing newline', async (t) => {
  const bytes = Buffer.from([0, 255, 0xef, 0xbb, 0xbf, 0x80, ...Buffer.from(secret), 0x0a, 0x0d, 0x0a]);
  t.same(Buffer.from(secretOf(bytes).secret!, 'latin1'), bytes.subarray(0, -1));
  t.equal(secretOf(secret).secret, secret);
  t.equal(secretOf(`${secret}\n`).secret, secret);
  t.equal(secretOf(`${secret}\n\n`).secret, `${secret}\n`);
  t.ok(secretOf(secret).sources.includes(join(folder, 'app.secret')), 'and the file is watched');
});

t.test('a secret from elsewhere is its text in UTF-8', async (t) => {
  const text = 'é'.repeat(16);
  const of = (rest: string) =>
    load({ app: `assertion: { algorithm: HS256, secret: ${rest} }` }, { SECRET: text }).config?.upstreams.app
      ?.assertion?.secret;
  t.equal(of('{ env: SECRET }'), Buffer.from(text).toString('latin1'));
  t.equal(of(text), Buffer.from(text).toString('latin1'));
});

t.test('a file that is no secret is reported, without what is in it', async (t) => {
  const place = 'f:5:68: upstreams.app.assertion.secret';
  t.same(secretOf(`${secret.slice(1)}\n`).problems, [
    `${place}: must be at least 32 bytes (from file app.secret)`,
  ]);
  t.same(secretOf('').problems, [`${place}: must be at least 32 bytes (from file app.secret)`]);
  mkdirSync(join(folder, 'folder.secret'));
  const of = (file: string) =>
    load({ app: `assertion: { algorithm: HS256, secret: { file: ${file} } }` }).problems;
  t.same(of('none.secret'), [`${place}: file none.secret can't be read: no such file (ENOENT)`]);
  t.same(of('folder.secret'), [`${place}: file folder.secret can't be read: it is a folder (EISDIR)`]);
});

t.test('two upstreams with one secret, though in two files', async (t) => {
  writeFileSync(join(folder, 'one.secret'), secret);
  writeFileSync(join(folder, 'two.secret'), `${secret}\n`);
  const hs256 = (file: string) => `assertion: { algorithm: HS256, secret: { file: ${file} } }`;
  t.same(load({ a: hs256('one.secret'), b: hs256('two.secret') }).problems, [
    'f:6:66: upstreams.b.assertion.secret: must not be that of another upstream, a (from file two.secret)',
  ]);
});

const echoes = (...upstreams: string[]) =>
  `upstreams:\n${upstreams.map((each) => `  ${each.replace('{', '{ url: builtin:echo,')}\n`).join('')}`;

const rows: Row[] = [
  [
    'values that an assertion can’t have',
    echoes(
      'app: { assertion: { algorithm: »RS256, secret: »short, lifetime: »301s, audience: »"", »key: a } }',
      'b: { assertion: { lifetime: »999ms } }',
      'c: { assertion: »true }',
    ),
    'upstreams.app.assertion.algorithm: must be one of EdDSA, ES256, HS256 (RS256)',
    'upstreams.app.assertion.secret: must be at least 32 bytes',
    'upstreams.app.assertion.lifetime: must be at most 5m (301s)',
    'upstreams.app.assertion.audience: must not be empty ("")',
    'upstreams.app.assertion.key: unknown key',
    'upstreams.b.assertion.lifetime: must be at least 1s (999ms)',
    'upstreams.c.assertion: must be a map (true)',
  ],
  [
    'HS256 without a secret, and secrets without HS256',
    echoes(
      'a: { »assertion: { algorithm: HS256 } }',
      `b: { assertion: { »secret: ${secret} } }`,
      `c: { assertion: { algorithm: ES256, »secret: ${secret}y } }`,
    ),
    'upstreams.a.assertion.secret: is required for HS256',
    'upstreams.b.assertion.secret: requires algorithm: HS256',
    'upstreams.c.assertion.secret: requires algorithm: HS256',
  ],
  [
    'one audience for two upstreams',
    echoes(
      'a: { assertion: {} }',
      'b: { assertion: { audience: »a } }',
      'c: { assertion: { audience: »d } }',
      'd: { assertion: {} }',
      'e: { assertion: { audience: f } }',
      'f: {}',
    ),
    'upstreams.b.assertion.audience: must not be that of another upstream, a (a)',
    'upstreams.c.assertion.audience: must not be that of another upstream, d (d)',
  ],
];
testRows(rows);
