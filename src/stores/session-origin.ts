import type { Identity } from './identity.ts';

/**
 * The sign-in at an identity provider that a session began with, and a key that was minted in such a session comes of: what
 * the provider grants to that identity counts there alone (credentials/holdings.ts).
 */
export interface SessionOrigin extends Identity {
  /** The provider's name when the session began. */
  readonly provider: string;
}

/** The origin of a session; null for one by password, and for those from before the identity was kept. */
export function originOf(session: {
  readonly method: string;
  readonly provider: Identity | null;
}): SessionOrigin | null {
  const { method, provider } = session;
  return provider && { issuer: provider.issuer, subject: provider.subject, provider: method };
}
