import { createCipheriv, createDecipheriv, timingSafeEqual } from 'node:crypto';
import { Refusal } from '../errors.ts';
import { createMac } from './mac.ts';

/** Writes and reads the opaque cursors of lists. */
export interface Cursors {
  /** Writes a cursor of `payload`, any JSON value; `binding` names the uses that it is valid for (list, sort, filters). */
  write(payload: unknown, binding: string): string;
  /** Reads a cursor written for the same binding; throws {@link Refusal} `invalid_cursor` otherwise. */
  read(text: string, binding: string): unknown;
}

const macBytes = 32;
const maxCursorLength = 4096;

const cipher = 'aes-256-ctr';
const ivBytes = 16;

/**
 * Creates cursors under `secret` (at least 32 bytes): base64url of a MAC over binding and JSON, and of the JSON encrypted with
 * the MAC's first half as its nonce (synthetic, as in RFC 5297). They are encrypted because they contain labels of keys and
 * appear in URLs.
 */
export function createCursors(secret: Uint8Array): Cursors {
  const mac = createMac(secret, 'postern list cursor 2');
  const key = createMac(secret, 'postern list cursor 2 encryption')([]);

  function write(payload: unknown, binding: string): string {
    const json = JSON.stringify(payload);
    const tag = mac([binding, json]);
    const encrypted = createCipheriv(cipher, key, tag.subarray(0, ivBytes)).update(json);
    return Buffer.concat([tag, encrypted]).toString('base64url');
  }

  function read(text: string, binding: string): unknown {
    if (text.length > maxCursorLength) throw new Refusal('invalid_cursor');
    const bytes = Buffer.from(text, 'base64url');
    // Node decodes leniently (padding, `+/`, stray bytes); one cursor has one spelling.
    if (bytes.length < macBytes || bytes.toString('base64url') !== text) throw new Refusal('invalid_cursor');
    const tag = bytes.subarray(0, macBytes);
    const decrypted = createDecipheriv(cipher, key, tag.subarray(0, ivBytes)).update(
      bytes.subarray(macBytes),
    );
    const json = decrypted.toString();
    if (!timingSafeEqual(tag, mac([binding, json]))) throw new Refusal('invalid_cursor');
    return JSON.parse(json);
  }

  return { write, read };
}
