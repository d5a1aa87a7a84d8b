import { randomBytes } from 'node:crypto';

/** A new name for a gateway in `Postern-Via`, random so that it can't be guessed; the gateway refuses requests that carry it. */
export function newVia(): string {
  return randomBytes(16).toString('base64url');
}
