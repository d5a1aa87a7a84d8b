import { hash } from 'node:crypto';

/** Lifetime of an invitation, ms. */
export const invitationLifetimeMs = 7 * 24 * 60 * 60 * 1000;

/** Length of a token in bytes: 192 random bits need no slow hash. */
const tokenBytes = 24;

/** Mints an invitation: the token, shown once, and its hash, which is stored. `random(n)` returns n bytes of a CSPRNG. */
export function mintInvitation(random: (byteCount: number) => Uint8Array) {
  const token = Buffer.from(random(tokenBytes)).toString('base64url');
  return { token, hash: invitationHash(token) };
}

/** The hash under which a token is stored; takes any text. */
export function invitationHash(token: string): Uint8Array {
  return hash('sha256', token, 'buffer');
}
