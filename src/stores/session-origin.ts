import type { Identity } from './identity.ts';

/**
 * The sign-in at an identity provider with which a session began; keys minted in the session inherit it. The provider's grants
 * to that identity count only for that session and those keys (credentials/holdings.ts).
 */
export interface SessionOrigin extends Identity {
  /** The provider's name when the session began. */
  readonly provider: string;
}

/** The origin of a session; null if it began by password, or before identities were kept. */
export function originOf(session: {
  readonly method: string;
  readonly provider: Identity | null;
}): SessionOrigin | null {
  const { method, provider } = session;
  return provider && { issuer: provider.issuer, subject: provider.subject, provider: method };
}
