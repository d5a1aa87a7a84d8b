import { type JsonObject, parseJsonObject } from './json-object.ts';

/** A signed JWT taken apart. Nothing in it is verified. */
export interface CompactJws {
  readonly header: JsonObject;
  readonly payload: JsonObject;
  /** What the signature is over: the first two parts as they stand. */
  readonly signingInput: string;
}

/** As long as a target of the exchange may be; with the groups of a large directory they reach 16 KiB. */
const maxLength = 64 * 1024;

/**
 * Takes a compact JWS (RFC 7515 §7.1) apart: three parts in canonical base64url, the first two of them JSON objects
 * without duplicate members. Undefined for anything else, an encrypted or unsigned one included.
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

/** Undefined when empty, or when the same bytes are written another way: padding, spare bits, other characters. */
function decodeCanonical(part: string): Buffer | undefined {
  const bytes = Buffer.from(part, 'base64url');
  return part !== '' && bytes.toString('base64url') === part ? bytes : undefined;
}
