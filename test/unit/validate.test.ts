import t from 'tap';
import { z } from 'zod';
import { ValidationError } from '../../src/errors.ts';
import {
  codePointString,
  distinctList,
  togetherAtLeastOne,
  withoutControlCharacters,
} from '../../src/input/pydantic-types.ts';
import { validate } from '../../src/input/validate.ts';

const schema = togetherAtLeastOne(
  z.strictObject({
    label: codePointString({ min: 1, max: 5, trim: true, pattern: withoutControlCharacters }),
    scopes: distinctList(codePointString(), { max: 2 }),
    scope_sets: distinctList(codePointString(), { max: 2 }).default([]),
    note: codePointString({ min: 3 }).nullish(),
    flag: z.boolean().optional(),
    kind: z.enum(['a', 'b']).optional(),
    even: codePointString()
      .refine((value) => value.length % 2 === 0, 'the length must be even')
      .optional(),
    password: codePointString({ min: 8 }).optional(),
  }),
  ['scopes', 'scope_sets'],
);
const good = { label: 'l', scopes: ['a'] };
const problemsOf = (input: unknown, judge: z.ZodObject = schema) => {
  try {
    validate(judge, input, { loc: 'body', secret: ['password'] });
    return [];
  } catch (error) {
    if (error instanceof ValidationError) return error.problems;
    throw error;
  }
};

type Row = readonly [type: string, msg: string, loc: (string | number)[], input: unknown, ctx?: object];
const unicode = 'Input should be a valid string, unable to parse raw data as a unicode string';
const extra = ['extra_forbidden', 'Extra inputs are not permitted'] as const;
const refused: readonly (readonly [name: string, fields: object, rows: readonly Row[]])[] = [
  [
    'null isn’t a string',
    { label: null },
    [['string_type', 'Input should be a valid string', ['label'], null]],
  ],
  [
    'a number isn’t a string',
    { label: 1 },
    [['string_type', 'Input should be a valid string', ['label'], 1]],
  ],
  [
    'a string of spaces is empty once trimmed, and shown raw',
    { label: ' ' },
    [['string_too_short', 'String should have at least 1 character', ['label'], ' ', { min_length: 1 }]],
  ],
  [
    'the plural follows the bound',
    { note: 'ab' },
    [['string_too_short', 'String should have at least 3 characters', ['note'], 'ab', { min_length: 3 }]],
  ],
  [
    'six code points are more than five',
    { label: '😀😀😀😀😀😀' },
    [
      [
        'string_too_long',
        'String should have at most 5 characters',
        ['label'],
        '😀😀😀😀😀😀',
        { max_length: 5 },
      ],
    ],
  ],
  [
    'a control character does not match',
    { label: 'a\u0085b' },
    [
      [
        'string_pattern_mismatch',
        "String should match pattern '^[^\\u0000-\\u001f\\u007f-\\u009f]*$'",
        ['label'],
        'a\u0085b',
        { pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$' },
      ],
    ],
  ],
  [
    'a value has one problem: length before pattern',
    { label: '\u0000'.repeat(6) },
    [
      [
        'string_too_long',
        'String should have at most 5 characters',
        ['label'],
        '\u0000'.repeat(6),
        { max_length: 5 },
      ],
    ],
  ],
  ['a lone surrogate isn’t Unicode', { label: '\ud800' }, [['string_unicode', unicode, ['label'], '\ud800']]],
  [
    'a lone surrogate in a list is found',
    { scopes: ['a', '\udfff'] },
    [['string_unicode', unicode, ['scopes', 1], '\udfff']],
  ],
  [
    'the length of a string that isn’t Unicode is not checked',
    { note: '\ud800' },
    [['string_unicode', unicode, ['note'], '\ud800']],
  ],
  [
    'a string isn’t a list',
    { scopes: 'a' },
    [['list_type', 'Input should be a valid list', ['scopes'], 'a']],
  ],
  ['null isn’t a list', { scopes: null }, [['list_type', 'Input should be a valid list', ['scopes'], null]]],
  [
    'items are judged one by one',
    { scopes: ['a', 1] },
    [['string_type', 'Input should be a valid string', ['scopes', 1], 1]],
  ],
  [
    'a list that is too long is not looked into',
    { scopes: [1, 'a', null] },
    [
      [
        'too_long',
        'List should have at most 2 items after validation, not 3',
        ['scopes'],
        [1, 'a', null],
        { field_type: 'List', max_length: 2, actual_length: 3 },
      ],
    ],
  ],
  [
    'a list with duplicates is a value error',
    { scopes: ['a', 'a'] },
    [['value_error', 'Value error, items must be distinct', ['scopes'], ['a', 'a'], { error: {} }]],
  ],
  [
    'two lists are empty together',
    { scopes: [], scope_sets: [] },
    [
      [
        'too_short',
        'List should have at least 1 item after validation, not 0',
        ['scopes'],
        [],
        { field_type: 'List', min_length: 1, actual_length: 0 },
      ],
    ],
  ],
  [
    'two empty lists are reported along with other problems',
    { label: 1, scopes: [], flag: 'x' },
    [
      ['string_type', 'Input should be a valid string', ['label'], 1],
      [
        'too_short',
        'List should have at least 1 item after validation, not 0',
        ['scopes'],
        [],
        { field_type: 'List', min_length: 1, actual_length: 0 },
      ],
      ['bool_type', 'Input should be a valid boolean', ['flag'], 'x'],
    ],
  ],
  [
    'null isn’t a boolean',
    { flag: null },
    [['bool_type', 'Input should be a valid boolean', ['flag'], null]],
  ],
  [
    'another word than the two',
    { kind: 'c' },
    [['literal_error', "Input should be 'a' or 'b'", ['kind'], 'c', { expected: "'a' or 'b'" }]],
  ],
  [
    'a list is none of the words',
    { kind: ['a'] },
    [['literal_error', "Input should be 'a' or 'b'", ['kind'], ['a'], { expected: "'a' or 'b'" }]],
  ],
  [
    'a refinement is a value error with its message',
    { even: 'abc' },
    [['value_error', 'Value error, the length must be even', ['even'], 'abc', { error: {} }]],
  ],
  [
    'unknown fields come last, in the order they came',
    { zz: 1, aa: { x: [2] }, label: 2 },
    [
      ['string_type', 'Input should be a valid string', ['label'], 2],
      [...extra, ['zz'], 1],
      [...extra, ['aa'], { x: [2] }],
    ],
  ],
  [
    'a secret is never shown',
    { password: 'short' },
    [['string_too_short', 'String should have at least 8 characters', ['password'], null, { min_length: 8 }]],
  ],
  [
    'a secret is not shown in another place or shape',
    { kind: { password: 'x' }, Password: 'x', old: [{ apiKey: 'x' }] },
    [
      ['literal_error', "Input should be 'a' or 'b'", ['kind'], null, { expected: "'a' or 'b'" }],
      [...extra, ['Password'], null],
      [...extra, ['old'], null],
    ],
  ],
];

for (const [name, fields, rows] of refused) {
  t.test(name, async (t) => {
    const expected = rows.map(([type, msg, loc, input, ctx]) => ({
      type,
      loc: ['body', ...loc],
      msg,
      input,
      ...(ctx && { ctx }),
    }));
    t.strictSame(problemsOf({ ...good, ...fields }), expected);
  });
}

t.test('absent fields are missing, in the order of the schema', async (t) => {
  t.strictSame(problemsOf({}), [
    { type: 'missing', loc: ['body', 'label'], msg: 'Field required', input: null },
    { type: 'missing', loc: ['body', 'scopes'], msg: 'Field required', input: null },
  ]);
  const choice = z.object({ kind: z.enum(['a', 'b']) });
  t.strictSame(problemsOf({}, choice), [
    { type: 'missing', loc: ['body', 'kind'], msg: 'Field required', input: null },
  ]);
});

t.test('good fields come back trimmed and with defaults', async (t) => {
  const input = { label: ' 😀😀😀😀😀 ', scopes: [], scope_sets: ['s'], note: null };
  const fields = validate(schema, input, { loc: 'body' });
  t.strictSame(fields, { label: '😀😀😀😀😀', scopes: [], scope_sets: ['s'], note: null });
  t.strictSame(validate(schema, good, { loc: 'body' }), { ...good, scope_sets: [] });
});

t.test('thirty thousand bad fields or items take linear time, and the first 256 are reported', async (t) => {
  const many = Object.fromEntries(Array.from({ length: 30_000 }, (_, index) => [`f${index}`, 1]));
  t.equal(problemsOf({ ...good, ...many }).length, 256);
  const open = z.object({ list: z.array(z.string()) });
  const thrown = t.throws(() => validate(open, { list: Object.values(many) }, { loc: 'body' }));
  t.equal((thrown as ValidationError).problems.length, 256);
});

t.test('a problem of the object as a whole comes after its fields, and shows no secret in it', async (t) => {
  const pair = z
    .object({ code: z.string(), other: z.string().min(9) })
    .refine(() => false, { error: 'no pair', when: () => true });
  const read = () => validate(pair, { code: 'hunter2', other: 'x' }, { loc: 'body', secret: ['code'] });
  t.strictSame(
    (t.throws(read) as ValidationError).problems.map(({ type, loc, input }) => [type, loc, input]),
    [
      ['string_too_short', ['body', 'other'], 'x'],
      ['value_error', ['body'], null],
    ],
  );
});
