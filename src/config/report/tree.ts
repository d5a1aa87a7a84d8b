import { type Document, isAlias, isMap, isScalar, isSeq, type Node, type YAMLMap } from 'yaml';
import type { z } from 'zod';
import { suggestion } from '../../rules/nearest-name.ts';
import { asScalar, bytesOf, readOutsideValue, type Surroundings } from './outside-values.ts';
import type { Finding, Path } from './problems.ts';
import { type Shape, shapeOf } from './shape.ts';

/** The location of a value, as offsets into the text, and whether it may be shown. */
export interface Location {
  readonly key?: number;
  readonly value: number;
  readonly hidden: boolean;
  /** The origin of a value from outside the file, in words; never part of the value. */
  readonly origin?: string;
}

/** A file as plain values, with outside values filled in. */
export interface Tree {
  /** Undefined if the document has too many nodes. */
  readonly value: unknown;
  /** Locations of values, by {@link locationKey}. */
  readonly locations: ReadonlyMap<string, Location>;
  /** Problems found so far; the values at their paths are omitted or undefined. */
  readonly findings: readonly Finding[];
}

/** The key of a path in {@link Tree.locations}. */
export function locationKey(path: Path): string {
  return JSON.stringify(path);
}

interface Reading {
  readonly document: Document;
  readonly surroundings: Surroundings;
  readonly locations: Map<string, Location>;
  readonly findings: Finding[];
  nodes: number;
}

// Aliases may repeat long lists again and again; no real configuration comes close.
const maxNodes = 100_000;
const tooLarge = new RangeError('too many nodes');
const absent = Symbol('absent');
/** Matches the form that shells and Compose files have for variables, anywhere in a value: it would be taken literally. */
const placeholder = /\$\{[A-Za-z_]\w*(?:[-:?+=][^}$]*)?\}/;

/**
 * Reads a document guided by its schema, so that `{ env: NAME }` replaces a scalar only where the schema expects one, and neither
 * aliases of aliases nor deep nesting are followed deeper than the schema goes.
 */
export function readTree(document: Document, schema: z.ZodType, surroundings: Surroundings): Tree {
  const reading: Reading = { document, surroundings, locations: new Map(), findings: [], nodes: 0 };
  const root = document.contents;
  reading.locations.set(locationKey([]), { value: root?.range?.[0] ?? 0, hidden: false });
  const isEmpty = root === null || (isScalar(root) && root.value === null);
  if (isEmpty) fail(reading, [], 'is empty: "postern init" writes a first one');
  try {
    const value = isEmpty ? {} : readNode(schema, root, [], reading);
    return { value, locations: reading.locations, findings: reading.findings };
  } catch (error) {
    if (error !== tooLarge) throw error;
    return { value: undefined, locations: reading.locations, findings: [{ path: [], rule: 'is too large' }] };
  }
}

function readNode(schema: z.ZodType, written: unknown, path: Path, reading: Reading): unknown {
  const node = isAlias(written) ? written.resolve(reading.document) : written;
  reading.nodes += 1;
  if (reading.nodes > maxNodes) throw tooLarge;
  if (isAlias(written) && !node)
    return fail(reading, path, 'must refer to an anchor above it; put a text that begins with * in quotes');
  const shape = shapeOf(schema);
  if (shape.secret) hide(reading, path);
  if (isMap(node)) return readMap(shape, node, path, reading);
  if (isSeq(node)) return readList(shape, node.items, path, reading);
  if (!isScalar(node)) return null;
  if (shape.scalars.length > 0 && typeof node.value === 'string' && placeholder.test(node.value))
    return fail(
      reading,
      path,
      'has a placeholder, which stays as it is: write { env: NAME } for the whole value',
    );
  return shape.bytes && typeof node.value === 'string' ? bytesOf(node.value) : node.value;
}

function readMap(shape: Shape, map: YAMLMap, path: Path, reading: Reading): unknown {
  if (shape.scalars.length > 0 && (map.has('env') || map.has('file')))
    return readForm(shape, map, path, reading);
  const read: Record<string, unknown> = Object.create(null);
  for (const { name, node } of namedEntries(map, path, reading)) {
    const schema =
      shape.values ?? (shape.keys && Object.hasOwn(shape.keys, name) ? shape.keys[name] : undefined);
    // An unknown key is kept, for the schema to report; its value is dropped.
    const value = schema ? readNode(schema, node, [...path, name], reading) : null;
    if (value !== absent) read[name] = value;
  }
  return read;
}

function readList(shape: Shape, items: readonly unknown[], path: Path, reading: Reading): unknown[] {
  const read: unknown[] = [];
  if (!shape.items) return read;
  for (const item of items) {
    const itemPath = [...path, read.length];
    reading.locations.set(locationKey(itemPath), { value: offsetOf(item) ?? 0, hidden: false });
    const value = readNode(shape.items, item, itemPath, reading);
    if (value !== absent) read.push(value);
  }
  return read;
}

function readForm(shape: Shape, map: YAMLMap, path: Path, reading: Reading): unknown {
  hide(reading, path);
  const form: Record<string, unknown> = Object.create(null);
  for (const { name, node } of namedEntries(map, path, reading)) {
    const value = isAlias(node) ? node.resolve(reading.document) : node;
    form[name] = isScalar(value) ? value.value : null;
    if (!formKeys.includes(name))
      reading.findings.push({ path: [...path, name], rule: unknownInForm(name), at: 'key' });
  }
  const found = readOutsideValue(form, reading.surroundings, shape);
  if (found === undefined) return absent;
  if ('rule' in found) return fail(reading, path, found.rule);
  hide(reading, path, 'env' in form ? `from environment variable ${form.env}` : `from file ${form.file}`);
  return shape.bytes ? found.text : asScalar(found.text, shape.scalars);
}

const formKeys = ['env', 'file', 'optional'];
const unknownInForm = (name: string) => `unknown key${suggestion(name, formKeys)}`;

/** The entries of a map that have valid keys, whose locations are recorded; invalid keys become findings. */
function namedEntries(map: YAMLMap, path: Path, reading: Reading): { name: string; node: unknown }[] {
  const entries: { name: string; node: unknown }[] = [];
  const seen = new Set<string>();
  for (const { key, value } of map.items) {
    const name = isScalar(key) && key.value !== null ? String(key.source ?? key.value) : undefined;
    const offset = offsetOf(key);
    const rule = problemOfName(name, seen);
    if (rule === undefined) {
      reading.locations.set(locationKey([...path, name!]), {
        key: offset,
        value: offsetOf(value) ?? offset ?? 0,
        hidden: false,
      });
      entries.push({ name: name!, node: value });
      seen.add(name!);
    } else {
      reading.findings.push({
        path: name === undefined ? path : [...path, name],
        rule,
        offset: offset ?? offsetOf(map),
      });
    }
  }
  return entries;
}

function problemOfName(name: string | undefined, seen: ReadonlySet<string>): string | undefined {
  if (name === undefined) return 'must have plain keys';
  if (name === '<<') return 'merge keys are not supported';
  if (name === '__proto__') return 'unknown key';
  if (seen.has(name)) return 'duplicate key';
}

function offsetOf(node: unknown): number | undefined {
  return (node as Node | null)?.range?.[0];
}

function hide(reading: Reading, path: Path, origin?: string): void {
  const location = reading.locations.get(locationKey(path));
  if (location) reading.locations.set(locationKey(path), { ...location, hidden: true, origin });
}

function fail(reading: Reading, path: Path, rule: string): undefined {
  reading.findings.push({ path, rule });
  return undefined;
}
