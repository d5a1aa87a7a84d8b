import t from 'tap';
import { readKeptClaims } from '../../src/identity-providers/kept-claims.ts';

/** An ID token of which only the claims are read, as their JSON has them. */
const tokenOf = (json: string) => `e30.${Buffer.from(json).toString('base64url')}.c2ln`;

/** What is kept of these claims, as JSON by name, and what is left out. */
function read(json: string, keep: Record<string, string>) {
  const { kept, leftOut } = readKeptClaims(tokenOf(json), keep);
  return {
    kept: Object.fromEntries(kept.map(({ name, value }) => [name, JSON.stringify(value)])),
    leftOut: leftOut.map(({ claim, reason }) => `${claim}: ${reason}`),
  };
}

const noRoom = 'no room';
const noValue = 'not a value that can be kept';

t.test('claims are kept by their names, or by a pointer to them', async (t) => {
  const json =
    '{"groups":["a","b"],"org":{"dept":"R&D","a/b":[{"~":7}]},"https://a.example/r":"x","/odd":true}';
  const keep = {
    groups: 'groups',
    dept: '/org/dept',
    deep: '/org/a~1b/0/~0',
    url: 'https://a.example/r',
    odd: '/~1odd',
    none: 'nobody',
    nowhere: '/org/a/b',
  };
  t.strictSame(read(json, keep), {
    kept: { deep: '7', dept: '"R&D"', groups: '["a","b"]', odd: 'true', url: '"x"' },
    leftOut: [],
  });
  t.strictSame(readKeptClaims(tokenOf('{"a~/":1}'), { n: 'a~/' }).kept, [
    { name: 'n', pointer: '/a~0~1', value: 1 },
  ]);
});

t.test('a text, a number, a boolean or a list of them is kept, whole or not at all', async (t) => {
  for (const value of ['"a"', '""', '0', '-1.5', 'true', 'false', '[]', '["a",1,false]', '"\\u0000"', '"😀"'])
    t.strictSame(read(`{"a":${value}}`, { a: 'a' }), {
      kept: { a: JSON.stringify(JSON.parse(value)) },
      leftOut: [],
    });
  for (const value of [
    'null',
    '{}',
    '{"b":"c"}',
    '["a",null]',
    '[["a"]]',
    '["a",{}]',
    '"\\ud800"',
    '["a","\\udc00"]',
  ])
    t.strictSame(read(`{"a":${value}}`, { a: 'a' }), { kept: {}, leftOut: [`a: ${noValue}`] }, value);
});

t.test('a number is kept if a double gives it back', async (t) => {
  const exact: [string, string][] = [
    ['74', '74'],
    ['1.0', '1'],
    ['-0', '0'],
    ['0.0e9', '0'],
    ['0.1', '0.1'],
    ['100e-2', '1'],
    ['1E2', '100'],
    ['0.10', '0.1'],
    ['9007199254740993000', '9007199254740993000'],
    ['9007199254740991', '9007199254740991'],
    ['1e21', '1e+21'],
    ['1000000000000000000000', '1e+21'],
    ['123456789012345680000', '123456789012345680000'],
    ['5e-324', '5e-324'],
    ['0.000001e1', '0.00001'],
    [`1${'0'.repeat(300)}`, '1e+300'],
    [`0.${'0'.repeat(50)}1e51`, '1'],
  ];
  for (const [written, kept] of exact) {
    t.strictSame(read(`{"a":${written}}`, { a: 'a' }).kept, { a: kept }, written);
    t.strictSame(read(`{"a":["x",${written}]}`, { a: 'a' }).kept, { a: `["x",${kept}]` }, written);
  }
  const inexact = [
    '9007199254740993',
    '12345678901234567890',
    '123456789012345678901',
    '0.1000000000000000055511151231257827',
    '0.30000000000000001',
    '1e400',
    '-1e400',
    '1e-400',
    '2e-324',
    `1${'0'.repeat(300)}1`,
  ];
  for (const written of inexact) {
    t.strictSame(read(`{"a":${written}}`, { a: 'a' }), { kept: {}, leftOut: [`a: ${noValue}`] }, written);
    t.strictSame(read(`{"a":[1,${written}]}`, { a: 'a' }).kept, {}, `a list with ${written}`);
  }
  const texts =
    '{"12345678901234567890":"a","b":"say \\"12345678901234567890\\" 9007199254740993","c\\\\":1e400}';
  t.strictSame(
    read(texts, { a: '12345678901234567890', b: 'b', c: 'c\\' }),
    {
      kept: { a: '"a"', b: JSON.stringify('say "12345678901234567890" 9007199254740993') },
      leftOut: [`c\\: ${noValue}`],
    },
    'in a text, digits are text',
  );
});

/** A text that is `bytes` long as JSON. */
const sized = (bytes: number) => 'x'.repeat(bytes - 2);

t.test('4 KiB are kept together, by the order of names; later ones may fit', async (t) => {
  const claims = { one: sized(2_000), two: sized(2_000), three: sized(97), four: sized(96), five: 'x' };
  const keep = { b: 'two', a: 'one', c: 'three', d: 'four', e: 'five' };
  t.strictSame(readKeptClaims(tokenOf(JSON.stringify(claims)), keep), {
    kept: [
      { name: 'a', pointer: '/one', value: claims.one },
      { name: 'b', pointer: '/two', value: claims.two },
      { name: 'd', pointer: '/four', value: claims.four },
    ],
    leftOut: [
      { claim: 'three', reason: noRoom },
      { claim: 'five', reason: noRoom },
    ],
  });
  const whole = (value: unknown) => read(JSON.stringify({ a: value }), { a: 'a' }).leftOut;
  t.strictSame(whole(sized(4_096)), []);
  t.strictSame(whole(sized(4_097)), [`a: ${noRoom}`]);
  t.strictSame(whole('é'.repeat(2_047)), [], 'bytes of UTF-8');
  t.strictSame(whole(`${'é'.repeat(2_047)}x`), [`a: ${noRoom}`]);
  t.strictSame(whole('"'.repeat(2_047)), [], 'as JSON');
  t.strictSame(whole(`${'"'.repeat(2_047)}x`), [`a: ${noRoom}`]);
  t.strictSame(
    whole(Array(512).fill('group')).length + whole(Array(511).fill('group')).length,
    1,
    'no part of a list',
  );
  t.strictSame(
    read(JSON.stringify({ x: [1], y: sized(4_093) }), { _: 'x', a: 'y' }).leftOut,
    [],
    'exactly as many',
  );
});

t.test('a deep or long token is read in no time', async (t) => {
  const deep = `${'['.repeat(20_000)}1e400${']'.repeat(20_000)}`;
  t.strictSame(read(`{"deep":${deep},"a":"b"}`, { a: 'a', deep: 'deep', way: '/deep/0/0/0' }), {
    kept: { a: '"b"' },
    leftOut: [`deep: ${noValue}`, `/deep/0/0/0: ${noValue}`],
  });
  const zeros = `1.${'0'.repeat(40_000)}1`;
  t.strictSame(read(`{"a":${zeros}}`, { a: 'a' }).leftOut, [`a: ${noValue}`]);
  t.strictSame(read(`{"a":1.${'0'.repeat(40_000)}}`, { a: 'a' }).kept, { a: '1' });
});
