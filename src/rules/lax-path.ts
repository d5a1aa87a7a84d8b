import type { Reason } from '../reasons.ts';

/** The ways in which servers may read a path. */
export interface PathReadings {
  /** Every reading, {@link folded}, without duplicates. */
  readonly paths: readonly string[];
  /** The reason to refuse the path, whichever route its readings fall to; null if there is none. */
  readonly refusal: Reason | null;
}

/** Number of times a server may decode a path, one after the other. */
const maxRounds = 4;

/** Maximum length of all readings together: a path that is made for it has thousands, which would cost as many look-ups. */
const maxCharacters = 64 * 1024;

const dotSegment = /(?:^|\/)\.{1,2}(?:\/|$)/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: no path may be read with one
const control = /[\u0000-\u001f\u007f-\u009f]/;

/** True if a server may read a path differently from its spelling. */
export function hasOtherReadings(path: string): boolean {
  return /[A-Z%;]/.test(path);
}

/**
 * Reads a path as servers may, each in its way. A server decodes up to four times; before and after each time it may take the
 * path as it is, cut it at `;` (a parameter of its segment to Tomcat, the query to Fastify), at `#` or at `?`, and take `\` for
 * `/`: one of these or all. The result is decoded and cut again in the rounds that are left. A path is refused if some reading
 * has a dot segment, a control character or bytes that aren't UTF-8, or if it is still encoded after the last round. Segments of
 * the path as it is spelled are judged by `http/request-target.ts`.
 */
export function readPath(path: string): PathReadings {
  if (!/[%;#?\\]/.test(path)) return { paths: [folded(path)], refusal: null };
  const readings = new Set<string>();
  let refusal: Reason | null = isDecodedInTime(path) ? null : 'path has too many readings';
  let characters = 0;
  let texts: readonly string[] = [path];
  for (let round = 0; round <= maxRounds && texts.length > 0; round++) {
    const found: string[] = [];
    for (const text of texts)
      for (const reading of cutsOf(text)) {
        if (readings.has(reading)) continue;
        characters += reading.length;
        if (characters > maxCharacters)
          return { paths: foldedAll(readings), refusal: refusal ?? 'path has too many readings' };
        readings.add(reading);
        found.push(reading);
        refusal ??= problemOf(reading);
      }
    texts = found.map(decoded);
  }
  return { paths: foldedAll(readings), refusal };
}

/** The path in small letters, without empty segments and without a slash at its end: `/` becomes the empty string. */
export function folded(path: string): string {
  const single = path.replace(/\/{2,}/g, '/');
  const plain = single.endsWith('/') ? single.slice(0, -1) : single;
  const small = plain.toLowerCase();
  if (isAscii(small)) return small;
  // In both directions, as some letters coincide with others in only one of them (ſ, ẞ); Go makes i of İ, others i and a dot.
  return small.toUpperCase().toLowerCase().replaceAll('i\u0307', 'i');
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: every character of ASCII
const isAscii = (text: string) => /^[\u0000-\u007f]*$/.test(text);

/** Length of a reading once nothing in it is left to decode: of two routes, the longer one is more specific. */
export function decodedLength(reading: string): number {
  let text = reading;
  for (let next = decoded(text); next !== text; next = decoded(text)) text = next;
  return folded(text).length;
}

const foldedAll = (paths: Iterable<string>): readonly string[] => [
  ...new Set(Array.from(paths, (path) => folded(path))),
];

function problemOf(reading: string): Reason | null {
  if (dotSegment.test(reading)) return 'path holds a dot segment';
  if (control.test(reading)) return 'path holds an encoded control character';
  return reading.isWellFormed() ? null : 'path holds escapes that are not UTF-8';
}

/** The text as it is and as servers cut it, in one way or in all. */
function cutsOf(text: string): readonly string[] {
  if (!/[;#?\\]/.test(text)) return [text];
  const slashed = text.replaceAll('\\', '/');
  const whole = upTo(/[#?]/, slashed);
  return [
    text,
    withoutParameters(text),
    upTo(/;/, text),
    upTo(/#/, text),
    upTo(/\?/, text),
    slashed,
    withoutParameters(whole),
    upTo(/[#?]/, withoutParameters(slashed)),
    upTo(/;/, whole),
  ];
}

function withoutParameters(text: string): string {
  return text.replace(/;[^/]*/g, '');
}

function upTo(mark: RegExp, text: string): string {
  const end = text.search(mark);
  return end < 0 ? text : text.slice(0, end);
}

/** True if nothing is left to decode after the last round. */
function isDecodedInTime(path: string): boolean {
  let text = path;
  for (let round = 0; round < maxRounds; round++) {
    const next = decoded(text);
    if (next === text) return true;
    text = next;
  }
  return decoded(text) === text;
}

/** Decodes once: each escape by itself, malformed ones stay. Bytes that aren't UTF-8 become lone surrogates. */
function decoded(text: string): string {
  return text.includes('%') ? text.replace(/(?:%[0-9A-Fa-f]{2})+/g, decodedRun) : text;
}

function decodedRun(escapes: string): string {
  try {
    return decodeURIComponent(escapes);
  } catch {
    return escapes.replace(/%(..)/g, (_, digits: string) => {
      const byte = Number.parseInt(digits, 16);
      return String.fromCharCode(byte < 0x80 ? byte : 0xdc00 + byte);
    });
  }
}
