import { randomFillSync } from 'node:crypto';

const idBytes = 16;
const pool = Buffer.alloc(idBytes * 256);
let offset = pool.length;

/** 128 random bits in base64url, from a pool: asking for them one by one would cost more than all else about an id. */
export function randomId(): string {
  if (offset === pool.length) {
    randomFillSync(pool);
    offset = 0;
  }
  const id = pool.toString('base64url', offset, offset + idBytes);
  offset += idBytes;
  return id;
}
