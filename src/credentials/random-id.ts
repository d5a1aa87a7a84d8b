import { randomFillSync } from 'node:crypto';

const idBytes = 16;
const pool = Buffer.alloc(idBytes * 256);
let offset = pool.length;

/** Creates an id of 128 random bits in base64url, from a pool: one system call each would be its largest cost. */
export function randomId(): string {
  if (offset === pool.length) {
    randomFillSync(pool);
    offset = 0;
  }
  const id = pool.toString('base64url', offset, offset + idBytes);
  offset += idBytes;
  return id;
}
