import { randomBytes } from 'node:crypto';

/** A new name for a gateway in `Postern-Via`. It tells no one anything, and no one guesses it: a request that has it is 508. */
export function newVia(): string {
  return randomBytes(16).toString('base64url');
}
