import type { z } from 'zod';
import type { Path } from './problems.ts';

type ScalarType = 'string' | 'number' | 'boolean';

/** What a schema takes at one place of the file; several of these for a union. */
export interface Shape {
  /** Keys of a map that are fixed. */
  readonly keys?: Readonly<Record<string, z.ZodType>>;
  /** Values of a map whose keys are free. */
  readonly values?: z.ZodType;
  /** Items of a list. */
  readonly items?: z.ZodType;
  /** Types of a scalar; empty where none may stand. */
  readonly scalars: readonly ScalarType[];
  /** Whether its value must never be shown. */
  readonly secret: boolean;
}

/** The shape of a schema, through its defaults, transforms and unions. Throws for a kind no schema of ours uses. */
export function shapeOf(schema: z.ZodType): Shape {
  const shape = bareShapeOf(schema);
  return schema.meta()?.writeOnly === true ? { ...shape, secret: true } : shape;
}

/** The fixed keys of the map at a path of a schema; empty where there is no such map, or its keys are free. */
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
  const nothing = { scalars: [], secret: false };
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
  };
}
