import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Shape } from './shape.ts';

/** Sources of the values of `{ env: NAME }` and `{ file: PATH }`. */
export interface Surroundings {
  readonly env: NodeJS.ProcessEnv;
  /** The folder that relative paths start from. */
  readonly folder: string;
  /** Collects the absolute paths of referenced files, found or not. */
  readonly sources: Set<string>;
}

/** The text found, or the broken rule; undefined if the value is optional and absent. */
export type OutsideValue = { readonly text: string } | { readonly rule: string } | undefined;

/**
 * Resolves `{ env, optional }` or `{ file, optional }`; one trailing newline of a file is dropped. With `bytes` the text has
 * one character for each byte, and a file need not be UTF-8.
 */
export function readOutsideValue(
  form: Readonly<Record<string, unknown>>,
  surroundings: Surroundings,
  { bytes }: Pick<Shape, 'bytes'>,
): OutsideValue {
  const { env, file, optional = false } = form;
  if (typeof optional !== 'boolean') return { rule: 'optional must be true or false' };
  if ('env' in form && 'file' in form) return { rule: 'must have env or file, not both' };
  const found =
    'env' in form ? fromEnvironment(env, surroundings, bytes) : fromFile(file, surroundings, bytes);
  return 'unavailable' in found ? (optional ? undefined : { rule: found.unavailable }) : found;
}

type Found = { text: string } | { rule: string } | { unavailable: string };

function fromEnvironment(name: unknown, { env }: Surroundings, bytes: boolean): Found {
  // The rule doesn't repeat the name: a secret may have been written there by mistake.
  if (typeof name !== 'string' || !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
    return { rule: 'env must be the name of an environment variable' };
  const text = Object.hasOwn(env, name) ? env[name] : undefined;
  if (text === undefined) return { unavailable: `environment variable ${name} is not set` };
  return { text: bytes ? bytesOf(text) : text };
}

function fromFile(path: unknown, { folder, sources }: Surroundings, bytes: boolean): Found {
  if (typeof path !== 'string' || path === '') return { rule: 'file must be the path of a file' };
  const absolute = resolve(folder, path);
  sources.add(absolute);
  try {
    const content = readFileSync(absolute);
    // The service that shares the secret drops one line feed, and nothing before it.
    if (bytes) return { text: content.toString('latin1').replace(/\n$/, '') };
    const text = decodeUtf8(content);
    return text === undefined ? { rule: `file ${path} is not UTF-8` } : { text: text.replace(/\r?\n$/, '') };
  } catch (error) {
    return { unavailable: `file ${path} can't be read: ${reasonOf(error)}` };
  }
}

/** The UTF-8 bytes of a text, as a string of one character per byte. */
export function bytesOf(text: string): string {
  return Buffer.from(text).toString('latin1');
}

/** Decodes UTF-8, dropping a byte order mark; undefined if the bytes aren't UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a folder in its path is a file',
  EACCES: 'permission denied',
};

/** The reason a file could not be read: the system error's code, in words if it is a frequent one. */
export function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
  return reasons[code] === undefined ? code : `${reasons[code]} (${code})`;
}

/** Converts an outside text to a scalar: to a number or boolean only where the schema expects one. */
export function asScalar(text: string, types: Shape['scalars']): string | number | boolean {
  if (types.includes('number') && /^[-+]?\d+(?:\.\d+)?$/.test(text)) return Number(text);
  if (types.includes('boolean') && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}
