import type { z } from 'zod';
import type { Path } from './problems.ts';

type ScalarType = 'string' | 'number' | 'boolean';

/** The values that a schema accepts at one location of the file; the shape of a union merges those of its branches. */
export interface Shape {
  /** The fixed keys of a map, with the schemas of their values. */
  readonly keys?: Readonly<Record<string, z.ZodType>>;
  /** The schema of the values of a map with arbitrary keys. */
  readonly values?: z.ZodType;
  /** The schema of the items of a list. */
  readonly items?: z.ZodType;
  /** The types of a scalar; empty if none is accepted. */
  readonly scalars: readonly ScalarType[];
  /** True if the value must never be shown. */
  readonly secret: boolean;
  /** True if each character of the string stands for a byte: the content of a file need not be text. */
  readonly bytes: boolean;
}

/** The shape of a schema, through its defaults, transforms and unions. Throws for a kind that none of our schemas uses. */
export function shapeOf(schema: z.ZodType): Shape {
  const shape = bareShapeOf(schema);
  const { writeOnly, contentEncoding } = schema.meta() ?? {};
  return {
    ...shape,
    secret: shape.secret || writeOnly === true,
    bytes: shape.bytes || contentEncoding === 'binary',
  };
}

/** The fixed keys of the map at a path of a schema; empty if there is no such map or its keys are arbitrary. */
export function keysAt(schema: z.ZodType, path: Path): readonly string[] {
  let found: Shape = shapeOf(schema);
  for (const step of path) {
    const inner =
      typeof step === 'number'
        ? found.items
        : (found.values ?? (found.keys && Object.hasOwn(found.keys, step) ? found.keys[step] : undefined));
    if (inner === undefined) return [];
    found = shapeOf(inner);
  }
  return Object.keys(found.keys ?? {});
}

function bareShapeOf(schema: z.ZodType): Shape {
  const nothing = { scalars: [], secret: false, bytes: false };
  const { def } = (schema as unknown as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case 'object':
      return { ...nothing, keys: def.shape as Record<string, z.ZodType> };
    case 'record':
      return { ...nothing, ...shapeOfRecord(def) };
    case 'array':
      return { ...nothing, items: def.element as z.ZodType };
    case 'string':
    case 'number':
    case 'boolean':
      return { ...nothing, scalars: [def.type] };
    case 'enum':
    case 'template_literal':
      return { ...nothing, scalars: ['string'] };
    case 'literal':
      return { ...nothing, scalars: def.values.map((value) => typeof value as ScalarType) };
    case 'optional':
    case 'default':
    case 'prefault':
      return shapeOf(def.innerType as z.ZodType);
    case 'pipe':
      return shapeOf(def.in as z.ZodType);
    case 'union':
      return def.options.map((option) => shapeOf(option as z.ZodType)).reduce(merge);
    default:
      throw new TypeError(`a configuration schema can't be a ${def.type}`);
  }
}

function shapeOfRecord({ keyType, valueType }: z.core.$ZodRecordDef): Pick<Shape, 'keys' | 'values'> {
  const names = keyType._zod.values;
  const value = valueType as z.ZodType;
  return names
    ? { keys: Object.fromEntries([...names].map((name) => [String(name), value])) }
    : { values: value };
}

function merge(left: Shape, right: Shape): Shape {
  return {
    ...left,
    ...right,
    scalars: [...left.scalars, ...right.scalars],
    secret: left.secret || right.secret,
    bytes: left.bytes || right.bytes,
  };
}
