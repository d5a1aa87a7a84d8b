import type { z } from 'zod';
import type { Finding, Path } from './problems.ts';
import type { configSchema } from './schema.ts';

/** A value of which any part may be missing, or there but undefined because it is broken on its own account. */
export type Partly<T> = T extends readonly (infer Item)[]
  ? (Partly<Item> | undefined)[]
  : T extends object
    ? { [Key in keyof T]?: Partly<T[Key]> }
    : T;

/** A configuration as written, without the values that are broken on their own account. */
export type WrittenConfig = Partly<z.input<typeof configSchema>>;

/** Takes down a rule that is broken at a path. */
export type Report = (path: Path, rule: string, at?: Finding['at']) => void;

/** Judges what spans several keys; reports nothing that merely follows from a key already found broken. */
export type Rule = (config: WrittenConfig, report: Report) => void;

/** What stands under a key: the fallback where the key is left out, undefined where its value is broken. */
export function valueOr<Map extends object, Key extends keyof Map, Fallback>(
  map: Map | undefined,
  key: Key,
  fallback: Fallback,
): Map[Key] | Fallback | undefined {
  return map && key in map ? map[key] : fallback;
}
