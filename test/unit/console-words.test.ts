import { execFileSync } from 'node:child_process';
import t from 'tap';
import { auditEvents } from '../../src/log/audit-events.ts';

const load = (file: string) =>
  import(new URL(`../../src/web/assets/console/${file}`, import.meta.url).href) as Promise<any>;

t.test('every event of the audit has words, each its own', async (t) => {
  const { eventWords } = await load('events.js');
  t.strictSame(Object.keys(eventWords).sort(), Object.keys(auditEvents).sort());
  const words = Object.values<string>(eventWords);
  t.equal(new Set(words).size, words.length);
  for (const each of words) t.match(each, /^[A-Z][^_.]+$/);
});

t.test('the first administrator is created by the bootstrap token', async (t) => {
  const { actorWords } = await load('events.js');
  t.equal(actorWords('anonymous', 'user_created'), 'bootstrap token');
  t.equal(actorWords('anonymous', 'login_failed'), 'anonymous');
  t.equal(actorWords('command_line', 'user_created'), 'command line');
});

t.test('distances in time are in the unit that says enough', async (t) => {
  const { distance } = await load('times.js');
  const [minute, hour, day] = [60_000, 3_600_000, 86_400_000];
  for (const [ms, words] of [
    [-1_000, 'just now'],
    [1_000, 'in less than a minute'],
    [-3 * minute, '3 minutes ago'],
    [-119 * minute, '119 minutes ago'],
    [-5 * hour, '5 hours ago'],
    [-47 * hour, '47 hours ago'],
    [12 * day - minute, 'in 12 days'],
    [90 * day - minute, 'in 90 days'],
    [365 * day - minute, 'in 12 months'],
    [-800 * day, '2 years ago'],
  ] as const)
    t.equal(distance(ms), words);
});

t.test('a command calls the first route that takes the key', async (t) => {
  const { callOf } = await load('command.js');
  const routes = [
    { path: '/admin', exact: false, scopes: { '*': ['admin'] } },
    { path: '/api/store', exact: false, scopes: { read: ['store:read'], write: ['store:write'] } },
    { path: '/report', exact: true, scopes: { POST: ['report'] } },
    { path: '/odd', exact: false, scopes: { read: ['odd'], GET: ['more'] } },
  ];
  for (const [held, call] of [
    [['store:read'], { method: 'GET', path: '/api/store/' }],
    [['store:write'], { method: 'POST', path: '/api/store/' }],
    [['store:write', 'admin'], { method: 'GET', path: '/admin/' }],
    [['report'], { method: 'POST', path: '/report' }],
    [['odd'], null],
    [['more'], { method: 'GET', path: '/odd/' }],
    [[], null],
  ] as const)
    t.strictSame(callOf(routes, new Set(held)), call, held.join(' '));
  const open = [{ path: '/', exact: false, scopes: { '*': [] } }];
  t.strictSame(callOf(open, new Set()), { method: 'GET', path: '/' });
  const origin = 'https://wiki.acme.example.com';
  const ofHost = [{ ...open[0], origin }];
  t.strictSame(callOf(ofHost, new Set()), { method: 'GET', path: '/', origin }, 'at the host of the route');
  const ofWildcard = [{ ...open[0], origin: 'https://*.preview.acme.dev' }];
  t.strictSame(callOf(ofWildcard, new Set()), null, 'a wildcard is no address');
});

t.test('a shell takes the address of a command as one word', async (t) => {
  const { shellWord } = await load('command.js');
  const plain = 'https://acme.example.com:8443/api/store/%20~a+b,c@d-e_f/';
  t.equal(shellWord(plain), plain);
  for (const path of ["/a'$(id)`id`&b", "''", '/a b;c', '/$HOME!*?[x]{1,2}#"\\', '/é', '']) {
    const word = shellWord(`https://acme.example.com${path}`);
    t.equal(
      execFileSync('/bin/sh', ['-c', `printf %s ${word}`], { encoding: 'utf8' }),
      `https://acme.example.com${path}`,
    );
  }
  t.equal(shellWord("/a'b"), String.raw`'/a'\''b'`);
});
