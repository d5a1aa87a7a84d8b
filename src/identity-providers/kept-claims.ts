import { valueAt } from '../rules/json-pointer.ts';
import { type ClaimValue, type KeptClaim, pointerOfClaim } from '../rules/kept-claims.ts';

/** Maximum size of all claims that a session keeps together, bytes of UTF-8 of their values as JSON. */
const maxKeptBytes = 4 * 1024;

/** Claims of an ID token that are kept, and those that are there and can't be. */
export interface ReadClaims {
  readonly kept: readonly KeptClaim[];
  readonly leftOut: readonly LeftOutClaim[];
}

/** A claim that is not kept. */
export interface LeftOutClaim {
  /** The claim as `keep` has it. */
  readonly claim: string;
  readonly reason: 'no room' | 'not a value that can be kept';
}

/**
 * Reads from a valid ID token the claims that `keep` names. Each is kept whole or not at all, in the order of names, as long as
 * there is room for it.
 */
export function readKeptClaims(idToken: string, keep: Readonly<Record<string, string>>): ReadClaims {
  const [, payload = ''] = idToken.split('.');
  const claims: unknown = JSON.parse(withoutInexact(Buffer.from(payload, 'base64url').toString()));
  const kept: KeptClaim[] = [];
  const leftOut: LeftOutClaim[] = [];
  let room = maxKeptBytes;
  for (const [name, claim] of Object.entries(keep).sort(byName)) {
    const pointer = pointerOfClaim(claim);
    const value = valueAt(claims, pointer);
    if (value === undefined) continue;
    if (!isKeepable(value)) {
      leftOut.push({ claim, reason: 'not a value that can be kept' });
      continue;
    }
    const bytes = Buffer.byteLength(JSON.stringify(value));
    if (bytes > room) leftOut.push({ claim, reason: 'no room' });
    else {
      room -= bytes;
      kept.push({ name, pointer, value });
    }
  }
  return { kept, leftOut };
}

function byName([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number {
  return one < other ? -1 : 1;
}

function isKeepable(value: unknown): value is ClaimValue {
  return Array.isArray(value) ? value.every(isScalar) : isScalar(value);
}

/** True for a boolean, a number, and a text that has UTF-8: a lone surrogate has none. */
function isScalar(value: unknown): boolean {
  return typeof value === 'string'
    ? value.isWellFormed()
    : typeof value === 'number' || typeof value === 'boolean';
}

const stringsAndNumbers = /"(?:[^"\\]+|\\.)*"|-?\d[\d.eE+-]*/g;

/**
 * Replaces by `{}`, which is never kept, each number in valid JSON that a double doesn't give back: a service would be told of
 * another one, such as the id of another account.
 */
function withoutInexact(text: string): string {
  return text.replace(stringsAndNumbers, (token) => (token.startsWith('"') || isExact(token) ? token : '{}'));
}

/** True if the shortest form of the double of a JSON number has the same value as the number. */
function isExact(token: string): boolean {
  const double = Number(token);
  const shortest = String(double);
  return token === shortest || (Number.isFinite(double) && decimalOf(token) === decimalOf(shortest));
}

/** The value of a JSON number in one form: sign, digits without zeros at either end, exponent. */
function decimalOf(token: string): string {
  const [, sign, whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(token)!;
  const digits = whole + fraction;
  let start = 0;
  while (digits[start] === '0') start += 1;
  let end = digits.length;
  while (end > start && digits[end - 1] === '0') end -= 1;
  if (start === end) return '0';
  return `${sign}${digits.slice(start, end)}e${Number(exponent) - fraction.length + digits.length - end}`;
}
