import type { JSONWebKeySet } from 'jose';
import type { Config } from '../config/sections/schema.ts';
import {
  type Assert,
  type AssertionKey,
  assertionUse,
  createAssert,
  createPairKeys,
  secretAssertionKey,
} from '../credentials/assertion.ts';
import { KeyRing } from '../credentials/key-ring.ts';
import type { LastingParts } from './lasting-parts.ts';

/** Signers of the assertions that prove to services that requests come from Postern. */
export interface Assertions {
  /** The signer for an upstream; null if the upstream has no `assertion`. */
  assertFor(upstream: string): Assert | null;
  /** The signer for the services behind a listener of `forward_auth`; null if the listener has no `assertion`. */
  assertForListener(index: number): Assert | null;
  /** The public keys (RFC 7517), including those of other replicas. */
  published(): Promise<JSONWebKeySet>;
}

type AssertionConfig = NonNullable<Config['upstreams'][string]['assertion']>;

/** Builds the signers of all upstreams and listeners; the store must already hold their keys. */
export function composeAssertions(
  config: Config,
  { keys, now }: Pick<LastingParts, 'keys' | 'now'>,
): Assertions {
  const ring = new KeyRing(keys, assertionUse);
  const signerOf = (assertion: AssertionConfig | undefined, audience: string): Assert | null =>
    assertion === undefined
      ? null
      : createAssert({
          issuer: config.base_url,
          audience: assertion.audience ?? audience,
          tenant: config.tenant,
          lifetimeMs: assertion.lifetime,
          key: keyFor(assertion, ring),
          now,
        });
  const signers = new Map<string, Assert | null>();
  for (const [name, { assertion }] of Object.entries(config.upstreams))
    signers.set(name, signerOf(assertion, name));
  const ofListeners = config.forward_auth.map(({ assertion }) => signerOf(assertion, ''));
  return {
    assertFor: (upstream) => signers.get(upstream) ?? null,
    assertForListener: (index) => ofListeners[index] ?? null,
    published: () => ring.published(),
  };
}

function keyFor({ algorithm, secret }: AssertionConfig, ring: KeyRing): () => AssertionKey {
  if (algorithm !== 'HS256') return createPairKeys(ring, algorithm);
  const key = secretAssertionKey(Buffer.from(secret!, 'latin1'));
  return () => key;
}
