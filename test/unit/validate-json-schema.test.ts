import t from 'tap';
import { z } from 'zod';
import { rfc3339 } from '../../src/input/pydantic-datetime.ts';
import {
  booleanText,
  codePointString,
  distinctList,
  integerText,
  repeatable,
  withoutControlCharacters,
} from '../../src/input/pydantic-types.ts';

const rows: readonly (readonly [name: string, schema: z.ZodType, jsonSchema: object])[] = [
  [
    'a string',
    codePointString({ min: 1, max: 128, trim: true, pattern: withoutControlCharacters }),
    { type: 'string', minLength: 1, maxLength: 128, pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$' },
  ],
  ['a string without bounds', codePointString(), { type: 'string' }],
  [
    'a list',
    distinctList(codePointString(), { min: 1, max: 64 }),
    { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 64, uniqueItems: true },
  ],
  [
    'a repeatable parameter',
    repeatable(distinctList(codePointString())),
    { type: 'array', items: { type: 'string' }, uniqueItems: true },
  ],
  [
    'an integer with prefault',
    integerText({ ge: 1, le: 100 }).prefault(50),
    { type: 'integer', minimum: 1, maximum: 100, default: 50 },
  ],
  ['a boolean', booleanText(), { type: 'boolean' }],
  ['an instant', rfc3339({ future: Date.now }), { type: 'string', format: 'date-time' }],
];

for (const [name, schema, jsonSchema] of rows) {
  t.test(`${name} describes itself`, async (t) => {
    const { $schema, ...described } = z.toJSONSchema(schema, { io: 'input' });
    t.strictSame(described, jsonSchema);
  });
}

t.test('a field with a prefault is not required, one without is', async (t) => {
  const schema = z.strictObject({
    size: integerText({ ge: 1, le: 100 }).prefault(50),
    hydrate: booleanText(),
    all: repeatable(distinctList(codePointString())).optional(),
  });
  const described = z.toJSONSchema(schema, { io: 'input' });
  t.strictSame(described.required, ['hydrate']);
  t.equal(described.additionalProperties, false);
});
