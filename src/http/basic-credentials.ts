import { isUtf8 } from 'node:buffer';

/** User name and password of `Authorization: Basic` (RFC 7617 §2). */
export interface BasicCredentials {
  readonly userName: string;
  readonly password: string;
}

const basic = /^basic +([A-Za-z0-9+/_-]+={0,2})$/i;

/**
 * Reads `Basic` and UTF-8 in base64, of either alphabet and with or without padding, which is split at the first colon; undefined
 * for anything else.
 */
export function parseBasic(authorization: string): BasicCredentials | undefined {
  const encoded = basic.exec(authorization)?.[1];
  if (encoded === undefined) return undefined;
  const bytes = Buffer.from(encoded, 'base64');
  if (!isUtf8(bytes)) return undefined;
  const text = bytes.toString();
  const colon = text.indexOf(':');
  return colon < 0 ? undefined : { userName: text.slice(0, colon), password: text.slice(colon + 1) };
}

/** True if the scheme is Basic (RFC 9110 §11.1). */
export function isBasic(authorization: string): boolean {
  return /^basic(?:[ \t]|$)/i.test(authorization);
}

const otherThanBase64 = /[^A-Za-z0-9+/_-]+/g;

/**
 * The bytes, as latin1, that each `Basic` in a header's value decodes to, as the most lenient servers read it: of either
 * alphabet, with or without padding, whatever stands between; all of it, up to the next `Basic`, and each word for itself.
 */
export function decodedBasic(value: string): readonly string[] {
  const [, ...parts] = value.split(/basic[^A-Za-z0-9+/_-]+/i);
  const encoded = parts.flatMap((part) => {
    const words = part.split(otherThanBase64);
    return words.length > 1 ? [words.join(''), ...words] : words;
  });
  if (parts.length > 1) encoded.push(parts.join('basic').replace(otherThanBase64, ''));
  return encoded.map((text) => Buffer.from(text, 'base64').toString('latin1'));
}
