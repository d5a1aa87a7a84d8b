import { timingSafeEqual } from 'node:crypto';
import { Refusal } from '../errors.ts';
import { createMac } from './mac.ts';

/** Writes and reads the opaque cursors of lists. */
export interface Cursors {
  /** `payload` is what JSON can hold; `binding` names what the cursor is good for (list, sort, filters). */
  write(payload: unknown, binding: string): string;
  /** The payload of a cursor written for the same binding; throws {@link Refusal} `invalid_cursor` otherwise. */
  read(text: string, binding: string): unknown;
}

const macBytes = 32;
const maxCursorLength = 4096;

/** Creates cursors authenticated under `secret` (at least 32 bytes): base64url of MAC and JSON. */
export function createCursors(secret: Uint8Array): Cursors {
  const mac = createMac(secret, 'postern list cursor 1');

  function write(payload: unknown, binding: string): string {
    const json = JSON.stringify(payload);
    return Buffer.concat([mac([binding, json]), Buffer.from(json)]).toString('base64url');
  }

  function read(text: string, binding: string): unknown {
    if (text.length > maxCursorLength) throw new Refusal('invalid_cursor');
    const bytes = Buffer.from(text, 'base64url');
    // Node decodes leniently (padding, `+/`, stray bytes); one cursor has one spelling.
    if (bytes.length < macBytes || bytes.toString('base64url') !== text) throw new Refusal('invalid_cursor');
    const json = bytes.toString('utf8', macBytes);
    if (!timingSafeEqual(bytes.subarray(0, macBytes), mac([binding, json]))) {
      throw new Refusal('invalid_cursor');
    }
    return JSON.parse(json);
  }

  return { write, read };
}
