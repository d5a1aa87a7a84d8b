import t from 'tap';
import { ValidationError } from '../../src/errors.ts';
import { parseJson } from '../../src/input/json-parser.ts';
import { createRandom, type Random } from '../support/corpora/random.ts';

/** The text or bytes, then the offset and the error that Python's `json` reports (3.11; the last group is ours alone). */
const malformed: readonly (readonly [text: string | number[], offset: number, error: string])[] = [
  ['   ', 3, 'Expecting value'],
  ['{"a":1} x', 8, 'Extra data'],
  ['{"a":1}}', 7, 'Extra data'],
  ['01', 1, 'Extra data'],
  ['1.', 1, 'Extra data'],
  ['nullx', 4, 'Extra data'],
  ['-', 0, 'Expecting value'],
  ['+1', 0, 'Expecting value'],
  ['True', 0, 'Expecting value'],
  ['[1,]', 3, 'Expecting value'],
  ['[,]', 1, 'Expecting value'],
  ['{"a":}', 5, 'Expecting value'],
  ['/*c*/{}', 0, 'Expecting value'],
  ['\x0b{}', 0, 'Expecting value'],
  ['{"a":\n\n x}', 8, 'Expecting value'],
  ['{"é😀": x}', 7, 'Expecting value'],
  ['{', 1, 'Expecting property name enclosed in double quotes'],
  ['{a:1}', 1, 'Expecting property name enclosed in double quotes'],
  ["{'a':1}", 1, 'Expecting property name enclosed in double quotes'],
  ['{"a":1,}', 7, 'Expecting property name enclosed in double quotes'],
  ['{"a":1,2:3}', 7, 'Expecting property name enclosed in double quotes'],
  ['{"a"', 4, "Expecting ':' delimiter"],
  ['{"a" 1}', 5, "Expecting ':' delimiter"],
  ['{"a":1', 6, "Expecting ',' delimiter"],
  ['{"a":1 "b":2}', 7, "Expecting ',' delimiter"],
  ['{"a":[1}', 7, "Expecting ',' delimiter"],
  ['"abc', 0, 'Unterminated string starting at'],
  ['{"a":"\\', 5, 'Unterminated string starting at'],
  ['"\\u12345', 0, 'Unterminated string starting at'],
  ['"a\nb"', 2, 'Invalid control character at'],
  ['{"a":"\x1f"}', 6, 'Invalid control character at'],
  ['"\\x"', 1, 'Invalid \\escape'],
  ['"\\u12"', 2, 'Invalid \\uXXXX escape'],
  ['"\\u1234', 2, 'Invalid \\uXXXX escape'],
  ['"\\u+123"', 2, 'Invalid \\uXXXX escape'],
  ['"\\ud83d\\uZZZZ"', 8, 'Invalid \\uXXXX escape'],

  ['\ufeff{}', 0, 'Unexpected UTF-8 BOM (decode using utf-8-sig)'],
  ['NaN', 0, 'Expecting value'],
  ['[-Infinity]', 1, 'Expecting value'],
  ['{"a":1,"b":{"c":1,"\\u0063":2}}', 18, 'Duplicate property name'],
  ['{"__proto__":1,"__proto__":2}', 15, 'Duplicate property name'],
  [[0x22, 0xc3, 0xa9, 0xff, 0x22], 2, 'Invalid UTF-8'],
  [[0x22, 0xf0, 0x9f, 0x98, 0x22], 1, 'Invalid UTF-8'],
  [[0x22, 0xed, 0xa0, 0x80, 0x22], 1, 'Invalid UTF-8'],
  [[0x22, 0xef, 0xbf, 0xbd, 0xc0, 0xaf, 0x22], 2, 'Invalid UTF-8'],
  [`${'['.repeat(64)}{}`, 64, 'Nesting too deep'],
  ['{"a":'.repeat(30_000), 320, 'Nesting too deep'],
];

for (const [text, offset, error] of malformed) {
  t.test(`${JSON.stringify(text).slice(0, 60)} is json_invalid at ${offset}: ${error}`, async (t) => {
    const thrown = t.throws(() => parseJson(Buffer.from(text as string)));
    t.ok(thrown instanceof ValidationError);
    t.strictSame((thrown as ValidationError).problems, [
      { type: 'json_invalid', loc: ['body', offset], msg: 'JSON decode error', input: {}, ctx: { error } },
    ]);
  });
}

t.test('a well-formed text means what JSON.parse says', async (t) => {
  const texts = [
    ' {"a":[1,-2.5e+3,0,1E2,{"b":"x\\n\\u0041\\"\\/"}],"c":null,"d":[true,false],"":{}} ',
    '"é😀\\ud83d\\ude00\ufffd"',
    '[]',
    `${'['.repeat(64)}${']'.repeat(64)}`,
  ];
  for (const text of texts) t.same(parseJson(Buffer.from(text)).value, JSON.parse(text));
});

t.test('a lone surrogate is kept for the schema to refuse', async (t) => {
  t.equal(parseJson(Buffer.from('"\\ud800"')).value, '\ud800');
});

t.test('a member named __proto__ is an own member and changes no prototype', async (t) => {
  const value = parseJson(Buffer.from('{"__proto__":{"admin":true}}')).value as Record<string, unknown>;
  t.strictSame(Object.keys(value), ['__proto__']);
  t.equal(Object.getPrototypeOf(value), null);
  t.equal(value.admin, undefined);
});

t.test('the member names of the outermost object come in the order of the text', async (t) => {
  const { memberNames } = parseJson(Buffer.from('{"b":{"x":1},"2":0,"a":0,"1":0}'));
  t.strictSame(memberNames, ['b', '2', 'a', '1']);
});

const pieces = [
  ...'{}[]:,"\\/ \t\n\v\0\u007f\u00a0\u2028\ufeff-+.01eE\'',
  ...['\\u', '\\n', 'null', 'true', 'NaN', 'Infinity', '//', '"a":'],
];
const originals = [
  ' {"a":[1,-2.5e+3,0,1E2,{"b":"x\\n\\u0041\\"\\/"}],"c":null,"d":[true,false],"":{}} ',
  '{"label":"a","scopes":["x","y"],"expires":null,"2":{"a":{"b":[[],{}]}},"1":-0}',
  '"\\ud83d\\ude00 é😀"',
];

function changed(text: string, random: Random): string {
  const at = random.below(text.length + 1);
  const end = random.oneIn(2) ? at : at + random.below(4);
  return text.slice(0, at) + (random.oneIn(4) ? '' : random.pick(pieces)) + text.slice(end);
}

/** The value that is read; undefined where the text is refused with that kind of error. */
function readOr(
  refusal: new (...given: never[]) => Error,
  read: () => unknown,
): { value: unknown } | undefined {
  try {
    return { value: read() };
  } catch (error) {
    if (error instanceof refusal) return undefined;
    throw error;
  }
}

t.test('changed texts are JSON when JSON.parse says so, and mean the same', async (t) => {
  const random = createRandom(8259);
  const counts = { read: 0, refused: 0, onlyOurs: 0 };
  for (let round = 0; round < 20_000; round++) {
    let text = random.pick(originals);
    for (let left = 1 + random.below(4); left > 0; left--) text = changed(text, random);
    text = text.toWellFormed();
    const ours = readOr(ValidationError, () => parseJson(Buffer.from(text)).value);
    const theirs = readOr(SyntaxError, () => JSON.parse(text));
    if (ours !== undefined) counts.read++;
    else if (theirs === undefined) counts.refused++;
    else counts.onlyOurs++;
    const isSame = JSON.stringify(ours?.value) === JSON.stringify(theirs?.value);
    if (!isSame && !(ours === undefined && hasDuplicates(text))) t.fail(JSON.stringify(text));
  }
  t.ok(counts.read > 1_000 && counts.refused > 1_000 && counts.onlyOurs > 0, JSON.stringify(counts));
});

/** Whether `JSON.parse` would leave out members of a text that is JSON. */
function hasDuplicates(text: string): boolean {
  const colons = text.replace(/"(?:[^"\\]|\\.)*"/g, '').split(':').length - 1;
  let members = 0;
  JSON.parse(text, (_, value) => {
    if (value instanceof Object && !Array.isArray(value)) members += Object.keys(value).length;
    return value;
  });
  return members < colons;
}
