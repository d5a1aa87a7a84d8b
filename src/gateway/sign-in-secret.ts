import { randomBytes } from 'node:crypto';
import type { Records } from '../stores/records.ts';

const secretBytes = 32;

/** The secret of the records that seals starts of sign-ins, and what sessions keep of them. Rejects with `store_unavailable`. */
export function signInSecret(records: Pick<Records, 'secret'>): Promise<Uint8Array> {
  return records.secret('sign_in', randomBytes(secretBytes));
}
