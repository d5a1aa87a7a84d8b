import { randomBytes } from 'node:crypto';

/**
 * A new name for a gateway in `Postern-Via`, random so that it reveals nothing and can't be guessed. The gateway refuses requests
 * that carry it.
 */
export function newVia(): string {
  return randomBytes(16).toString('base64url');
}
