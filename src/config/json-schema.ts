import { z } from 'zod';
import { configSchema } from './sections/schema.ts';

type JsonSchema = { [key: string]: unknown };

const outsideForm = (key: 'env' | 'file', description: string) => ({
  type: 'object',
  properties: { [key]: { type: 'string', description }, optional: { type: 'boolean', default: false } },
  required: [key],
  additionalProperties: false,
});

const outsideValue = {
  description: 'A scalar from outside the file; with optional, a missing one counts as an absent key.',
  oneOf: [
    outsideForm('env', 'Name of an environment variable.'),
    outsideForm('file', 'Path of a file; one trailing newline is dropped.'),
  ],
};

/** The JSON Schema (2020-12) of the configuration file, for editors; it can't express rules that span keys. */
export function configJsonSchema(): JsonSchema {
  const { $schema, ...schema } = z.toJSONSchema(configSchema, { io: 'input' }) as JsonSchema;
  return {
    $schema,
    title: 'Postern configuration',
    ...admitOutsideValues(schema),
    $defs: { outside_value: outsideValue },
  };
}

/** The schema, with `{ env }` or `{ file }` accepted in place of every scalar. */
function admitOutsideValues(schema: JsonSchema): JsonSchema {
  if (isScalar(schema)) return orOutsideValue(schema);
  const { properties, additionalProperties, items, anyOf } = schema;
  return {
    ...schema,
    ...(isSchema(properties) && { properties: mapValues(properties, admitOutsideValues) }),
    ...(isSchema(additionalProperties) && { additionalProperties: admitOutsideValues(additionalProperties) }),
    ...(isSchema(items) && { items: admitOutsideValues(items) }),
    ...(Array.isArray(anyOf) && { anyOf: anyOf.map(admitOutsideValues) }),
  };
}

function orOutsideValue({ description, default: value, writeOnly, ...scalar }: JsonSchema): JsonSchema {
  return {
    ...(description !== undefined && { description }),
    ...(value !== undefined && { default: value }),
    ...(writeOnly !== undefined && { writeOnly }),
    anyOf: [...(Array.isArray(scalar.anyOf) ? scalar.anyOf : [scalar]), { $ref: '#/$defs/outside_value' }],
  };
}

function isScalar({ type, anyOf }: JsonSchema): boolean {
  if (Array.isArray(anyOf)) return anyOf.every(isScalar);
  return type !== 'object' && type !== 'array';
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null;
}

function mapValues(schemas: JsonSchema, change: (schema: JsonSchema) => JsonSchema): JsonSchema {
  return Object.fromEntries(
    Object.entries(schemas).map(([key, schema]) => [key, change(schema as JsonSchema)]),
  );
}
