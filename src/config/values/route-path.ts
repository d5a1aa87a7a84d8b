import { readPath } from '../../rules/lax-path.ts';
import type { PassedSpellings } from '../../rules/passed-spellings.ts';

/**
 * The rule that a route's path breaks, or undefined. A route must be written in the one spelling in which requests reach it: any
 * other would match nothing, and its requests would fall through to a laxer route. Requests are judged by
 * `http/request-target.ts`.
 */
export function problemOfRoutePath(path: string, passed: PassedSpellings): string | undefined {
  if (!path.startsWith('/')) return 'must begin with /';
  if (/[?#]/.test(path)) return 'must not have a query or fragment';
  if (/[^!-~]/.test(path)) return 'must be visible ASCII: percent-encode other characters as UTF-8';
  if (path.includes('//')) return 'must not contain //';
  // Globs and templates look right and match nothing.
  if (/[*{}]/.test(path))
    return 'must be a plain path, without wildcards and templates: a prefix covers all paths below it';
  if (path.includes('\\')) return 'must not contain \\';
  if (path.includes(';') && !passed.semicolons) return 'must not contain ; while paths.semicolons is refuse';
  const broken = problemOfEscapes(path, passed);
  if (broken !== undefined) return broken;
  if (/\/\.{1,2}(?:\/|$)/.test(path)) return 'must not contain . or .. segments';
  if (readPath(path).refusal !== null)
    return 'must not be read by any server with . or .. segments, control characters or escapes of more than four rounds';
}

function problemOfEscapes(path: string, passed: PassedSpellings): string | undefined {
  if (/%(?![0-9A-Fa-f]{2})/.test(path)) return 'must not contain a malformed escape';
  for (const [triplet] of path.matchAll(/%[0-9A-Fa-f]{2}/g)) {
    const character = String.fromCharCode(Number.parseInt(triplet.slice(1), 16));
    if (/[A-Za-z0-9._~-]/.test(character)) return `must not percent-encode ${character}`;
    const rule = rules[character];
    if (rule !== undefined && passed[rule]) continue;
    // biome-ignore lint/suspicious/noControlCharactersInRegex: it looks for percent-encoded control characters
    if (/[\u0000-\u001f\u007f/\\;#?]/.test(character)) return `must not contain ${triplet}`;
  }
  if (/%25[0-9A-Fa-f]{2}/.test(path) && !passed.encodedPercent) return 'must be percent-encoded once';
  if (!isUtf8(path)) return 'must be percent-encoded UTF-8';
}

/** The rule that lets an encoded character through. */
const rules: Readonly<Record<string, keyof PassedSpellings | undefined>> = {
  '/': 'encodedSlashes',
  ';': 'semicolons',
  '#': 'encodedDelimiters',
  '?': 'encodedDelimiters',
  '\\': 'encodedBackslashes',
};

function isUtf8(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

/** A route's path without its trailing slash: both are the same route. An empty last segment (`//`) is kept, to be refused. */
export function withoutTrailingSlash(path: string): string {
  return /[^/]\/$/.test(path) ? path.slice(0, -1) : path;
}
