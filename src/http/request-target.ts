import { Refusal } from '../errors.ts';
import type { Reason } from '../reasons.ts';
import { readPath } from '../rules/lax-path.ts';
import type { PassedSpellings } from '../rules/passed-spellings.ts';

/** Returns the index of `?` in an origin-form target; without a query, the target's length. */
export function queryStart(target: string): number {
  const index = target.indexOf('?');
  return index < 0 ? target.length : index;
}

const slash = 0x2f;
const percent = 0x25;
const dot = 0x2e;
const semicolon = 0x3b;
const backslash = 0x5c;
const hash = 0x23;
const question = 0x3f;

/** Encoded bytes that servers take for separators once decoded: the reason for refusal, and the rule that lets them through. */
const separators: Readonly<
  Record<number, { readonly reason: Reason; readonly rule: keyof PassedSpellings } | undefined>
> = {
  [slash]: { reason: 'path holds %2f', rule: 'encodedSlashes' },
  [backslash]: { reason: 'path holds %5c', rule: 'encodedBackslashes' },
  [semicolon]: { reason: 'path holds %3b', rule: 'semicolons' },
  [hash]: { reason: 'path holds %23', rule: 'encodedDelimiters' },
  [question]: { reason: 'path holds %3f', rule: 'encodedDelimiters' },
};

/** Per byte: 1 for RFC 3986 §2.3 unreserved characters. */
const unreserved = new Uint8Array(256);
for (const character of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~')
  unreserved[character.charCodeAt(0)] = 1;

/** Per byte: the value of a hexadecimal digit, or 255. */
const hexValue = new Uint8Array(256).fill(255);
for (let value = 0; value < 16; value++) {
  hexValue[value.toString(16).charCodeAt(0)] = value;
  hexValue[value.toString(16).toUpperCase().charCodeAt(0)] = value;
}

/** Per byte: 0 if it means itself wherever it is in a path, 1 for a capital letter, 2 for any other byte. */
const pathBytes = new Uint8Array(256).fill(2);
for (let code = 0x21; code <= 0x7e; code++) pathBytes[code] = code >= 0x41 && code <= 0x5a ? 1 : 0;
for (const code of [slash, percent, semicolon, backslash, hash]) pathBytes[code] = 2;

/**
 * Refuses a request target whose spelling is ambiguous. The path is checked and forwarded as received, never normalised (RFC 9112
 * §3.2.1, RFC 3986 §6.2.2). `pathEnd` is the target's {@link queryStart}. Returns true if every server reads the path as it is
 * spelled; false if {@link requireReadings} must judge it as well. Throws `bad_request`.
 */
export function assertUnambiguousTarget(target: string, pathEnd: number, passed: PassedSpellings): boolean {
  if (target.charCodeAt(0) !== slash) throw ambiguous('target is not a path');
  let isPlain = true;
  let segmentStart = 1;
  for (let i = 1; i < pathEnd; i++) {
    const code = target.charCodeAt(i);
    const kind = pathBytes[code];
    if (kind === 0) continue;
    if (code === slash) {
      if (i === segmentStart) throw ambiguous('path holds //');
      assertNoDotSegment(target, segmentStart, i);
      segmentStart = i + 1;
      continue;
    }
    isPlain = false;
    if (code === percent) i = checkEscape(target, i, pathEnd, passed);
    else if (code === semicolon) {
      if (!passed.semicolons) throw ambiguous('path holds ;');
    } else if (kind !== 1)
      throw ambiguous(code === backslash ? 'path holds \\' : 'target holds a forbidden byte');
  }
  if (target.charCodeAt(1) === slash) throw ambiguous('path holds //');
  assertNoDotSegment(target, segmentStart, pathEnd);
  for (let i = pathEnd; i < target.length; i++) {
    const code = target.charCodeAt(i);
    if (code < 0x21 || code > 0x7e || code === hash) throw ambiguous('target holds a forbidden byte');
  }
  return isPlain;
}

/** The readings of a path whose spelling passes. Throws `bad_request` if it is refused for one of them. */
export function requireReadings(path: string): readonly string[] {
  const { paths, refusal } = readPath(path);
  if (refusal !== null) throw ambiguous(refusal);
  return paths;
}

function ambiguous(reason: Reason): Refusal {
  return new Refusal('bad_request', { close: true, reason });
}

function assertNoDotSegment(target: string, start: number, end: number): void {
  const length = end - start;
  if (length !== 1 && length !== 2) return;
  if (target.charCodeAt(start) === dot && target.charCodeAt(end - 1) === dot)
    throw ambiguous('path holds a dot segment');
}

function byteAt(target: string, index: number, end: number): number {
  if (index + 2 >= end || target.charCodeAt(index) !== percent) return -1;
  const high = hexValue[target.charCodeAt(index + 1) & 0xff]!;
  const low = hexValue[target.charCodeAt(index + 2) & 0xff]!;
  return high === 255 || low === 255 ? -1 : high * 16 + low;
}

/** Checks the escape (for UTF-8, the run of escapes) at `index`; returns the index of its last character. */
function checkEscape(target: string, index: number, end: number, passed: PassedSpellings): number {
  const byte = byteAt(target, index, end);
  if (byte < 0) throw ambiguous('path holds a malformed escape');
  if (byte >= 0x80) return checkUtf8(target, index, end, byte);
  if (byte < 0x20 || byte === 0x7f) throw ambiguous('path holds an encoded control character');
  if (unreserved[byte] === 1) throw ambiguous('path holds an encoded letter, digit or mark');
  const separator = separators[byte];
  if (separator !== undefined && !passed[separator.rule]) throw ambiguous(separator.reason);
  // A second round of decoding would see another escape here.
  if (
    byte === percent &&
    !passed.encodedPercent &&
    isHex(target, index + 3, end) &&
    isHex(target, index + 4, end)
  )
    throw ambiguous('path is encoded twice');
  return index + 2;
}

function isHex(target: string, index: number, end: number): boolean {
  return index < end && hexValue[target.charCodeAt(index) & 0xff] !== 255;
}

/** Checks the UTF-8 sequence of escapes at `index` (RFC 3629 §4: no overlong form, no surrogate, nothing above U+10FFFF). */
function checkUtf8(target: string, index: number, end: number, first: number): number {
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4) throw ambiguous('path holds escapes that are not UTF-8');
  let point = first & (0x7f >> length);
  for (let k = 1; k < length; k++) {
    const byte = byteAt(target, index + 3 * k, end);
    if (byte < 0 || (byte & 0xc0) !== 0x80) throw ambiguous('path holds escapes that are not UTF-8');
    point = (point << 6) | (byte & 0x3f);
  }
  const overlong = (length === 3 && point < 0x800) || (length === 4 && point < 0x10000);
  if (overlong || point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff))
    throw ambiguous('path holds escapes that are not UTF-8');
  // U+0080 to U+009F are control characters too.
  if (point < 0xa0) throw ambiguous('path holds an encoded control character');
  return index + 3 * length - 1;
}
