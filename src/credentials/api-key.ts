import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** A new key: `raw` is shown once, `hint` and `hash` are stored. */
export interface MintedApiKey {
  readonly raw: string;
  /** `<prefix>_` and the first four characters of the random part. */
  readonly hint: string;
  /** SHA-256 of the raw key. */
  readonly hash: Uint8Array;
}

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 30 base62 characters hold 178 bits. */
const randomLength = 30;
const checksumLength = 6;
const maxPrefixLength = 16;
/** Length of the longest possible key, in characters. */
export const maxKeyLength: number = maxPrefixLength + 1 + randomLength + checksumLength;
const underscore = 0x5f;

/** The value of each ASCII code as a base62 digit; -1 if it isn't one. */
const digitValues = Int8Array.from({ length: 128 }, (_, code) => alphabet.indexOf(String.fromCharCode(code)));

/** Mints an API key with the prefix (`[a-z0-9]{1,16}`); `random(n)` returns n bytes of a CSPRNG. */
export function mintApiKey(prefix: string, random: (byteCount: number) => Uint8Array): MintedApiKey {
  const randomPart = randomBase62(randomLength, random);
  const raw = `${prefix}_${randomPart}${checksum(randomPart)}`;
  return { raw, hint: `${prefix}_${randomPart.slice(0, 4)}`, hash: hash('sha256', raw, 'buffer') };
}

/** SHA-256 of a key, in base64url, under which stores and caches keep the key. */
export function apiKeyDigest(raw: string): string {
  return hash('sha256', raw, 'base64url');
}

/** True if the text has the exact shape of a key, with any prefix, and the right checksum. */
export function isApiKey(raw: string): boolean {
  const prefixLength = raw.length - 1 - randomLength - checksumLength;
  if (prefixLength < 1 || prefixLength > maxPrefixLength) return false;
  if (raw.charCodeAt(prefixLength) !== underscore) return false;
  for (let index = 0; index < prefixLength; index++) {
    if (!isPrefixCode(raw.charCodeAt(index))) return false;
  }
  const checksumStart = raw.length - checksumLength;
  for (let index = prefixLength + 1; index < checksumStart; index++) {
    if (digitAt(raw, index) < 0) return false;
  }
  let claimed = 0;
  for (let index = checksumStart; index < raw.length; index++) {
    const digit = digitAt(raw, index);
    if (digit < 0) return false;
    claimed = claimed * 62 + digit;
  }
  return claimed === crc32(raw.slice(prefixLength + 1, checksumStart));
}

/** The prefix of the key that begins at an index of a text, whatever follows the key; undefined if none begins there. */
export function keyPrefixAt(text: string, start: number): string | undefined {
  let end = start;
  while (end < start + maxPrefixLength && isPrefixCode(text.charCodeAt(end))) end++;
  if (text.charCodeAt(end) !== underscore) return undefined;
  const key = text.slice(start, end + 1 + randomLength + checksumLength);
  return isApiKey(key) ? text.slice(start, end) : undefined;
}

function isPrefixCode(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39);
}

function digitAt(text: string, index: number): number {
  return digitValues[text.charCodeAt(index)] ?? -1;
}

function checksum(randomPart: string): string {
  let rest = crc32(randomPart);
  let digits = '';
  while (digits.length < checksumLength) {
    digits = alphabet.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

/** Random base62 text. Bytes of 248 and above are discarded: `% 62` over all 256 would favour the first eight characters. */
function randomBase62(length: number, random: (byteCount: number) => Uint8Array): string {
  let text = '';
  while (text.length < length) {
    for (const byte of random(length - text.length)) {
      if (byte < 248) text += alphabet.charAt(byte % 62);
    }
  }
  return text;
}
