import { RecentCache } from '../stores/recent-cache.ts';
import type { Principal } from './principal.ts';

/** A verified credential, with its principal as of one version of the records. */
export class VerifiedCredential<Proof> {
  /** The part of the credential that needs verifying only once. */
  readonly proof: Proof;
  #principal: Principal | undefined = undefined;
  #recordsVersion = Number.NaN;

  constructor(proof: Proof) {
    this.proof = proof;
  }

  /** True once the credential has had a principal. */
  get isResolved(): boolean {
    return this.#principal !== undefined;
  }

  /** The principal, if it was resolved at that `Records.version()`; otherwise undefined. */
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
 * Verified credentials of one kind, by key, with their principals: identities, never decisions. Only valid credentials are kept,
 * so that made-up ones can't evict them.
 */
export class PrincipalCache<Proof> extends RecentCache<VerifiedCredential<Proof>> {
  /** `size`: number of the most recently used credentials that always stay cached; at most twice as many do. */
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
