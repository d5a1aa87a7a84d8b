import t from 'tap';
import { z } from 'zod';
import { ValidationError } from '../../src/errors.ts';
import { rfc3339 } from '../../src/input/pydantic-datetime.ts';
import {
  booleanText,
  codePointString,
  distinctList,
  integerText,
  repeatable,
} from '../../src/input/pydantic-types.ts';
import { readQuery } from '../../src/input/url-encoded.ts';

const schema = z.strictObject({
  size: integerText({ ge: 1, le: 100 }).prefault(50),
  hydrate: booleanText().prefault(true),
  sort_by: z.enum(['created', 'label', 'expires']).default('created'),
  created__gte: rfc3339().optional(),
  label__eq: codePointString().optional(),
  scopes__contains: repeatable(distinctList(codePointString(), { max: 3 })).default([]),
});
const defaults = { size: 50, hydrate: true, sort_by: 'created', scopes__contains: [] };
const problemsOf = (query: string) => {
  try {
    readQuery(query, schema);
    return [];
  } catch (error) {
    if (error instanceof ValidationError) return error.problems;
    throw error;
  }
};

const accepted: readonly (readonly [string | undefined, object])[] = [
  [undefined, {}],
  ['', {}],
  ['size=&hydrate=&sort_by=&label__eq=&created__gte&scopes__contains=&unknown=', {}],
  ['size=1', { size: 1 }],
  ['size=100', { size: 100 }],
  ['size=+7', { size: 7 }],
  ['size=%2B7', { size: 7 }],
  ['size=1_0', { size: 10 }],
  ['size=05.0', { size: 5 }],
  ['hydrate=OFF', { hydrate: false }],
  ['hydrate=t', { hydrate: true }],
  ['label__eq=', {}],
  ['label__eq=a+b%2B', { label__eq: 'a b+' }],
  ['scopes__contains=a', { scopes__contains: ['a'] }],
  ['scopes__contains=b&scopes__contains=a', { scopes__contains: ['b', 'a'] }],
  ['created__gte=2026-11-21T09:30:00%2B01:00', { created__gte: Date.UTC(2026, 10, 21, 8, 30) }],
];

for (const [query, parameters] of accepted) {
  t.test(`?${query} is taken`, async (t) => {
    t.strictSame(readQuery(query, schema), { ...defaults, ...parameters });
  });
}

const notAnInteger = [
  'int_parsing',
  'Input should be a valid integer, unable to parse string as an integer',
] as const;
const notABoolean = ['bool_parsing', 'Input should be a valid boolean, unable to interpret input'] as const;
const string = ['string_type', 'Input should be a valid string'] as const;
const extra = ['extra_forbidden', 'Extra inputs are not permitted'] as const;

type Row = readonly [type: string, msg: string, name: string, input: unknown, ctx?: object];
const refused: Readonly<Record<string, readonly Row[]>> = {
  'size=x': [[...notAnInteger, 'size', 'x']],
  'size=1.5': [[...notAnInteger, 'size', '1.5']],
  'size=1e1': [[...notAnInteger, 'size', '1e1']],
  'size=0x10': [[...notAnInteger, 'size', '0x10']],
  'size=1__0': [[...notAnInteger, 'size', '1__0']],
  'size=0': [['greater_than_equal', 'Input should be greater than or equal to 1', 'size', '0', { ge: 1 }]],
  'size=101': [['less_than_equal', 'Input should be less than or equal to 100', 'size', '101', { le: 100 }]],
  'size=99999999999999999999': [
    [
      'less_than_equal',
      'Input should be less than or equal to 100',
      'size',
      '99999999999999999999',
      { le: 100 },
    ],
  ],
  [`size=${'9'.repeat(5000)}`]: [
    [
      'int_parsing_size',
      'Unable to parse input string as an integer, exceeded maximum size',
      'size',
      '9'.repeat(5000),
    ],
  ],
  'hydrate=2': [[...notABoolean, 'hydrate', '2']],
  'hydrate=+true': [[...notABoolean, 'hydrate', ' true']],
  'sort_by=Label': [
    [
      'literal_error',
      "Input should be 'created', 'label' or 'expires'",
      'sort_by',
      'Label',
      { expected: "'created', 'label' or 'expires'" },
    ],
  ],
  'created__gte=2026-11-21T09:30:00': [
    ['timezone_aware', 'Input should have timezone info', 'created__gte', '2026-11-21T09:30:00'],
  ],
  'label__eq=%FF': [
    [
      'string_unicode',
      'Input should be a valid string, unable to parse raw data as a unicode string',
      'label__eq',
      '\udcff',
    ],
  ],
  'size=1&size=2': [[...string, 'size', ['1', '2']]],
  'hydrate=1&hydrate=1': [[...string, 'hydrate', ['1', '1']]],
  'sort_by=label&sort_by=label': [[...string, 'sort_by', ['label', 'label']]],
  'created__gte=&created__gte=': [[...string, 'created__gte', ['', '']]],
  'scopes__contains=a&scopes__contains=a': [
    ['value_error', 'Value error, items must be distinct', 'scopes__contains', ['a', 'a'], { error: {} }],
  ],
  'zz=1&size=x&2=b&hydrate=x&1=a&zz=2': [
    [...notAnInteger, 'size', 'x'],
    [...notABoolean, 'hydrate', 'x'],
    [...extra, 'zz', ['1', '2']],
    [...extra, '2', 'b'],
    [...extra, '1', 'a'],
  ],
  'access_token=abc': [[...extra, 'access_token', null]],
  '__proto__=1': [[...extra, '__proto__', '1']],
};

for (const [query, rows] of Object.entries(refused)) {
  t.test(`?${query.slice(0, 60)} is refused`, async (t) => {
    const expected = rows.map(([type, msg, name, input, ctx]) => ({
      type,
      loc: ['query', name],
      msg,
      input,
      ...(ctx && { ctx }),
    }));
    t.strictSame(problemsOf(query), expected);
  });
}

t.test('a schema that is not strict ignores unknown parameters', async (t) => {
  t.strictSame(readQuery('b=1&a=x', z.object({ a: codePointString() })), { a: 'x' });
});

t.test('a required parameter that is absent is missing', async (t) => {
  const required = z.object({
    size: integerText({ ge: 1, le: 2 }),
    all: repeatable(distinctList(z.string())),
  });
  const thrown = t.throws(() => readQuery('', required)) as ValidationError;
  t.strictSame(
    thrown.problems.map(({ type, loc }) => [type, loc]),
    [
      ['missing', ['query', 'size']],
      ['missing', ['query', 'all']],
    ],
  );
});
