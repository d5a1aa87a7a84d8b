import type { z } from 'zod';
import { hasKey, lookUp } from './issues.ts';
import type { Finding } from './problems.ts';
import { shapeOf } from './shape.ts';

/**
 * A value of which any part may be missing, because it was left out and has no default, or is broken. An address is good
 * as a whole or not at all.
 */
export type Partly<T> = T extends { readonly kind: string }
  ? T
  : T extends readonly (infer Item)[]
    ? readonly (Partly<Item> | undefined)[]
    : T extends object
      ? { readonly [Key in keyof T]?: Partly<T[Key]> | undefined }
      : T;

/** Stands in the place of a value that is known to be broken: no schema takes it. */
const broken = Number.NaN;

/** A copy of what was written, in which each value that a finding is about is there and broken. */
export function withBrokenMarked(written: unknown, findings: readonly Finding[]): unknown {
  const copy = structuredClone(written);
  for (const { path, at, offset, meant } of findings) {
    const last = path.at(-1);
    const map = lookUp(copy, path.slice(0, -1)) as Record<string | number, unknown>;
    // A misspelt key counts as the one that was meant, with a broken value: nothing else is wrong for that.
    if (meant !== undefined) map[meant] = broken;
    // What stands under a bad name stays (whatever refers to it is not wrong for that), and so does the first of two.
    if (last === undefined || at === 'key' || offset !== undefined) continue;
    if (hasKey(map, last)) map[last] = broken;
  }
  return copy;
}

/**
 * What a schema makes of those parts of a value that it takes, with its defaults where they were left out. A part that it
 * doesn't take is undefined; names of free keys and indexes of lists stay what they were.
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
