import { type JsonObject, parseJsonObject } from './json-object.ts';

/** A parsed JWT; nothing in it is verified. */
export interface CompactJws {
  readonly header: JsonObject;
  readonly payload: JsonObject;
  /** The signed part: the first two segments, unchanged. */
  readonly signingInput: string;
}

/** Maximum length, that of the exchange's target; with the groups of a large directory tokens reach 16 KiB. */
const maxLength = 64 * 1024;

/**
 * Parses a compact JWS (RFC 7515 §7.1): three segments in canonical base64url, the first two of them JSON objects
 * without duplicate members. Undefined for anything else, including an encrypted or unsigned token.
 */
export function parseCompactJws(text: string): CompactJws | undefined {
  if (text.length > maxLength) return undefined;
  const parts = text.split('.');
  const [header, payload, signature] = parts.map(decodeCanonical);
  if (parts.length !== 3 || header === undefined || payload === undefined || signature === undefined)
    return undefined;
  const headerObject = parseJsonObject(header);
  const payloadObject = parseJsonObject(payload);
  if (headerObject === undefined || payloadObject === undefined) return undefined;
  return {
    header: headerObject,
    payload: payloadObject,
    signingInput: text.slice(0, text.lastIndexOf('.')),
  };
}

/** Decodes base64url; undefined if empty or not canonical: padding, non-zero spare bits, other characters. */
function decodeCanonical(part: string): Buffer | undefined {
  const bytes = Buffer.from(part, 'base64url');
  return part !== '' && bytes.toString('base64url') === part ? bytes : undefined;
}
