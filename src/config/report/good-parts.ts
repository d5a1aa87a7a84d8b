import type { z } from 'zod';
import { hasKey, lookUp } from './issues.ts';
import type { Finding } from './problems.ts';
import { shapeOf } from './shape.ts';

/**
 * `T` with every part possibly undefined, because it was omitted and has no default, or because it is broken. An object with a
 * `kind`, such as an address, is valid as a whole or not at all.
 */
export type Partly<T> = T extends { readonly kind: string }
  ? T
  : T extends readonly (infer Item)[]
    ? readonly (Partly<Item> | undefined)[]
    : T extends object
      ? { readonly [Key in keyof T]?: Partly<T[Key]> | undefined }
      : T;

/** Placeholder for a value known to be broken; no schema accepts it. */
const broken = Number.NaN;

/** A copy of the configuration as written, with {@link broken} in place of each value that has a finding. */
export function withBrokenMarked(written: unknown, findings: readonly Finding[]): unknown {
  const copy = structuredClone(written);
  for (const { path, at, offset, meant } of findings) {
    const last = path.at(-1);
    const map = lookUp(copy, path.slice(0, -1)) as Record<string | number, unknown>;
    // A misspelt key counts as the intended one with a broken value, so that nothing else is reported because of it.
    if (meant !== undefined) map[meant] = broken;
    // A value under an invalid name stays, so that references to it aren't reported too, as does the first of duplicates.
    if (last === undefined || at === 'key' || offset !== undefined) continue;
    if (hasKey(map, last)) map[last] = broken;
  }
  return copy;
}

/**
 * Parses the parts of a value that the schema accepts, with defaults for omitted ones. A rejected part is undefined, so that the
 * other parts keep their keys and indexes.
 */
export function goodPartsOf<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): Partly<z.output<Schema>> | undefined {
  return goodParts(schema, value) as Partly<z.output<Schema>> | undefined;
}

function goodParts(schema: z.ZodType, value: unknown): unknown {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  if (typeof value !== 'object' || value === null) return undefined;
  const { keys, values, items } = shapeOf(schema);
  if (Array.isArray(value)) return items && value.map((item) => goodParts(items, item));
  const own = value as Readonly<Record<string, unknown>>;
  if (values) return mapEntries(own, (part) => goodParts(values, part));
  return keys && mapEntries(keys, (part, key) => goodParts(part, own[key]));
}

function mapEntries<Value>(
  map: Readonly<Record<string, Value>>,
  change: (value: Value, key: string) => unknown,
): object {
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, change(value, key)]));
}
