import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { clientName, programs, systems } from '../../src/cli/client-name.ts';
import { table } from '../../src/cli/table.ts';

const columns = [
  { title: 'ID' },
  { title: 'NAME', wraps: true },
  { title: 'SCOPES', wraps: true, drops: 2 },
  { title: 'ADDRESS', drops: 1 },
];
const scopes = 'apikeys:read apikeys:write audit:read scopes:read';
const rows = [
  ['019ab1d5-6a1e', 'ada', scopes, '192.168.178.20'],
  ['019ab1d5-6a1f', 'a user with a long name', '', '127.0.0.1'],
];

t.test('a table is as wide as its cells where there is room', async (t) => {
  const lines = table(columns, rows).split('\n');
  t.strictSame(
    lines[0],
    `ID             NAME                     ${'SCOPES'.padEnd(scopes.length)}  ADDRESS`,
  );
  t.equal(lines[1], `019ab1d5-6a1e  ada                      ${scopes}  192.168.178.20`);
  t.equal(table(columns, rows, 105), table(columns, rows), 'and no wider on a wider terminal');
});

t.test('long cells continue below, and share the room', async (t) => {
  const lines = table(columns, rows, 80).split('\n');
  t.strictSame(lines, [
    'ID             NAME                     SCOPES                    ADDRESS',
    '019ab1d5-6a1e  ada                      apikeys:read              192.168.178.20',
    '                                        apikeys:write audit:read',
    '                                        scopes:read',
    '019ab1d5-6a1f  a user with a long name                            127.0.0.1',
  ]);
});

t.test('then columns are left out by their rank, and named', async (t) => {
  t.strictSame(table(columns, rows, 50).split('\n'), [
    'ID             NAME              SCOPES',
    '019ab1d5-6a1e  ada               apikeys:read',
    '                                 apikeys:write',
    '                                 audit:read',
    '                                 scopes:read',
    '019ab1d5-6a1f  a user with a',
    '               long name',
    '',
    'Left out here: ADDRESS (see --json).',
  ]);
  t.strictSame(table(columns, rows, 36).split('\n'), [
    'ID             NAME',
    '019ab1d5-6a1e  ada',
    '019ab1d5-6a1f  a user with a long',
    '               name',
    '',
    'Left out here: SCOPES, ADDRESS (see',
    '--json).',
  ]);
});

t.test('long words are broken, and what controls a terminal is escaped', async (t) => {
  const lines = table(columns, [['1', 'x'.repeat(60), 'a\u001b[2J', '']], 40).split('\n');
  t.ok(lines.every((line) => line.length <= 40));
  t.equal(lines.join('').match(/x/g)?.length, 60);
  t.notMatch(lines.join(''), '\u001b');
});

t.test('a client has the name that the console shows', async (t) => {
  const chrome =
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36';
  t.equal(clientName(chrome), 'Chrome on Linux');
  t.equal(clientName(`${chrome} Edg/131.0`), 'Edge on Linux');
  t.equal(clientName('curl/8.9.1'), 'curl');
  t.equal(clientName(`a program of ours ${'x'.repeat(99)}`).length, 40);
  t.equal(clientName(''), 'unknown');
  const folder = join(import.meta.dirname, '../../src/web/assets/console');
  const console = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'utf8'));
  for (const [token, name] of Object.entries({ ...programs, ...systems }))
    t.ok(
      console.some((text) => new RegExp(`'?${token}'?: '${name}',`).test(text)),
      token,
    );
});
