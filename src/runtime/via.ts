import { randomBytes } from 'node:crypto';

/** A new name for a gateway in `Postern-Via`: random, it reveals nothing and can't be guessed; a request with it is refused. */
export function newVia(): string {
  return randomBytes(16).toString('base64url');
}
