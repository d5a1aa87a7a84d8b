import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { clientName, programs, systems } from '../../src/cli/client-name.ts';
import { layOut, table } from '../../src/cli/table.ts';

const columns = [
  { title: 'ID' },
  { title: 'NAME', wraps: true },
  { title: 'SCOPES', wraps: true, leaves: 2 },
  { title: 'ADDRESS', leaves: 1 },
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

t.test('then columns leave by their rank, and are named', async (t) => {
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

const below = [
  { title: 'ID' },
  { title: 'NAME', wraps: true },
  { title: 'SCOPES', wraps: true, leaves: 1, goesBelow: true },
  { title: 'ADDRESS', leaves: 2, goesBelow: true },
  { title: 'NOTE', leaves: 3 },
];

t.test('cells of columns that have left go on below their row, with their titles', async (t) => {
  const rows = [
    ['019ab1d5-6a1e', 'ada', scopes, '192.168.178.20', 'one note'],
    ['019ab1d5-6a1f', 'grace', '', '127.0.0.1', 'another'],
    ['019ab1d5-6a20', 'nightly', '', '', ''],
  ];
  t.strictSame(table(below, rows, 40).split('\n'), [
    'ID             NAME     NOTE',
    '019ab1d5-6a1e  ada      one note',
    '    SCOPES apikeys:read apikeys:write',
    '    audit:read scopes:read',
    '    ADDRESS 192.168.178.20',
    '019ab1d5-6a1f  grace    another',
    '    ADDRESS 127.0.0.1',
    '019ab1d5-6a20  nightly',
  ]);
  t.strictSame(table(below, rows, 28).split('\n'), [
    'ID             NAME',
    '019ab1d5-6a1e  ada',
    '    SCOPES apikeys:read',
    '    apikeys:write audit:read',
    '    scopes:read',
    '    ADDRESS 192.168.178.20',
    '019ab1d5-6a1f  grace',
    '    ADDRESS 127.0.0.1',
    '019ab1d5-6a20  nightly',
    '',
    'Left out here: NOTE (see',
    '--json).',
  ]);
  t.equal(table(below, rows).split('\n').length, 4, 'where there is room, each row is one line');
});

t.test('ids and words stay whole while a column can leave instead', async (t) => {
  const uuid = '019ab1d5-6a1e-7c7b-b3e1-0f5c2a3d4e5f';
  const rows = [['1', 'administrator', `session ${uuid}`, '127.0.0.1', 'an outcome']];
  for (let width = 45; width < 120; width++) {
    const lines = table(below, rows, width).split('\n');
    t.strictSame(
      lines.filter((line) => line.length > width),
      [],
      `${width}`,
    );
    for (const word of ['administrator', uuid, '127.0.0.1'])
      t.ok(
        lines.some((line) => line.includes(word)),
        `${word} at ${width}`,
      );
  }
});

t.test('later rows keep to a layout, and on a pipe nothing wraps', async (t) => {
  const sample = [['x'.repeat(13), 'x'.repeat(8), 'x'.repeat(8), 'x'.repeat(9), '']];
  const row = ['019ab1d5-6a1e', 'a longer name', 'some scopes', '127.0.0.1', ''];
  const bounded = layOut(below, sample, 50);
  t.strictSame(bounded.head, ['ID             NAME      SCOPES    ADDRESS    NOTE']);
  t.strictSame(bounded.linesOf(row), [
    '019ab1d5-6a1e  a longer  some      127.0.0.1',
    '               name      scopes',
  ]);
  const { linesOf } = layOut(below, sample, Number.POSITIVE_INFINITY);
  t.strictSame(linesOf(row), ['019ab1d5-6a1e  a longer name  some scopes  127.0.0.1']);
});

t.test('long words are broken, and what controls a terminal is escaped', async (t) => {
  const lines = table(columns, [['1', 'x'.repeat(60), 'a\u001b[2J', '']], 40).split('\n');
  t.ok(lines.every((line) => line.length <= 40));
  t.equal(lines.join('').match(/x/g)?.length, 60);
  t.notMatch(lines.join(''), '\u001b');
});

t.test('characters beyond U+FFFF stay whole', async (t) => {
  const { linesOf } = layOut([{ title: 'NAME', wraps: true }], [['\u{1f600}'.repeat(60)]], 61);
  const lines = linesOf(['\u{1f600}'.repeat(60)]);
  t.ok(lines.length > 1);
  for (const line of lines) t.match(line, /^ *(?:\u{1f600})+ *$/u);
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
