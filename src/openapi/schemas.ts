import { z } from 'zod';

/** Part of the OpenAPI document. */
export type Json = { [key: string]: unknown };

/** The reference to a component. */
export function componentRef(kind: 'schemas' | 'headers' | 'responses', name: string): string {
  return `#/components/${kind}/${name}`;
}

/** Direction in which a schema is used: with defaults, requests and responses differ. */
export type Direction = 'input' | 'output';

/** The schema as used in an operation: a reference if it has a name, else the schema itself. */
export function schemaUse(schema: z.ZodType, io: Direction): Json {
  const name = schema.meta()?.id;
  if (name !== undefined) return { $ref: componentRef('schemas', name) };
  return withoutIdentity(z.toJSONSchema(schema, { io, override: plain }));
}

/** The schemas that have a name, by name; named schemas within them become references. */
export function schemaComponents(schemas: Iterable<z.ZodType>, io: Direction): Json {
  const registry = z.registry<{ id: string }>();
  for (const schema of schemas) {
    const id = schema.meta()?.id;
    if (id !== undefined) registry.add(schema, { id });
  }
  const uri = (id: string) => componentRef('schemas', id);
  const made = z.toJSONSchema(registry, { io, uri, override: plain }).schemas;
  return Object.fromEntries(Object.entries(made).map(([id, schema]) => [id, withoutIdentity(schema)]));
}

/** Members of an object in a request, required and optional ones. */
export function membersOf(schema: z.ZodObject) {
  const { properties = {}, required = [] } = z.toJSONSchema(schema, { io: 'input', override: plain });
  return Object.entries(properties).map(([name, member]) => ({
    name,
    required: required.includes(name),
    schema: member as Json,
  }));
}

/** Removes keywords that would bind generated clients to more than the contract. */
function plain({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodTypes; jsonSchema: Json }): void {
  // Responses may get new members; zod closes every output object.
  if (zodSchema._zod.def.type === 'object' && zodSchema._zod.def.catchall === undefined)
    delete jsonSchema.additionalProperties;
  // Generated clients map it to a time type, which has no pattern.
  if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
}

function withoutIdentity({ $schema, $id, ...schema }: Json): Json {
  return schema;
}
