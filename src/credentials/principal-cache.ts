import { RecentCache } from '../stores/recent-cache.ts';
import type { Principal } from './principal.ts';

/** A verified credential, with its principal as of one version of the records. */
export class VerifiedCredential<Proof> {
  /** The content of the credential, as far as it was verified once and for all. */
  readonly proof: Proof;
  #principal: Principal | undefined = undefined;
  #recordsVersion = Number.NaN;

  constructor(proof: Proof) {
    this.proof = proof;
  }

  /** True once it has had a principal. */
  get isResolved(): boolean {
    return this.#principal !== undefined;
  }

  /** The principal, if it was resolved at that `Records.version()`. */
  principalAt(recordsVersion: number): Principal | undefined {
    return this.#recordsVersion === recordsVersion ? this.#principal : undefined;
  }

  /** Sets the principal as of a `Records.version()`. */
  resolve(principal: Principal, recordsVersion: number): void {
    this.#principal = principal;
    this.#recordsVersion = recordsVersion;
  }
}

/**
 * Verified credentials of one kind, each by a key of its own, with their callers: identities, never decisions. Only valid
 * credentials are kept, so that made-up ones can't evict them.
 */
export class PrincipalCache<Proof> extends RecentCache<VerifiedCredential<Proof>> {
  /** `size`: number of credentials that stay cached for certain; at most twice as many do. */
  constructor(size = 10_000) {
    super(size);
  }

  /** Keeps a credential that has just been verified. */
  keep(key: string, proof: Proof): VerifiedCredential<Proof> {
    const credential = new VerifiedCredential(proof);
    this.set(key, credential);
    return credential;
  }
}
