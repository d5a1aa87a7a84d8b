import { LRUCache } from 'lru-cache';
import type { IdentityProviderConfig } from '../config/schema.ts';
import { Refusal } from '../errors.ts';
import type { Log } from '../log.ts';
import { type VerifiedAssertion, verifyAssertion } from './assertion.ts';
import { authorizationUrl } from './authorization-url.ts';
import { type Granted, grantsOf, type Profile, profileOf } from './claims.ts';
import { createCodeExchange } from './code-exchange.ts';
import { createDiscovery } from './discovery.ts';
import { createProviderKeys } from './provider-keys.ts';
import type { ProviderNetwork } from './provider-network.ts';
import { isStartOf, type SignInStart, type SignInStarts } from './sign-in-start.ts';

/** Who the provider says it is. The account is (issuer, subject), never anything of the profile. */
export interface VerifiedIdentity {
  readonly issuer: string;
  readonly subject: string;
  readonly profile: Profile;
  readonly grants: Granted;
  /** As the start was given it; null without one. */
  readonly returnTo: string | null;
}

/** What the front end got from the provider: the one or the other, by `response`. */
export type Presented =
  | { readonly assertion: string }
  | {
      readonly code: string;
      readonly state: string;
      /** `iss` of RFC 9207, if the front end passes it on. */
      readonly issuer?: string;
    };

/** An outside provider that people sign in with. Bindings are what `sign-in-start.ts` makes of the browser's cookie. */
export interface IdentityProvider {
  /** As in its paths. */
  readonly name: string;
  readonly response: 'id_token' | 'code';
  /** The address to send the browser to. Rejects with {@link Refusal} `store_unavailable`. */
  start(from: {
    readonly binding: string;
    readonly returnTo: string | null;
  }): Promise<{ readonly url: string }>;
  /**
   * Who signed in: once, and in the browser that began it.
   *
   * Rejects with {@link Refusal} `invalid_assertion`, `user_not_provisioned` (a required claim is missing),
   * `store_unavailable` (provider or store away), `overloaded`.
   */
  redeem(presented: Presented, binding: string | undefined): Promise<VerifiedIdentity>;
}

/** What a provider is made of. */
export interface IdentityProviderOptions {
  readonly name: string;
  readonly settings: IdentityProviderConfig;
  /** The provider's own; closed by whoever made it. */
  readonly network: ProviderNetwork;
  readonly starts: SignInStarts;
  /** True the first time `id` is used before `expires` (epoch ms), false ever after; shared by all replicas. */
  readonly burn: (id: string, expires: number) => Promise<boolean>;
  /** The clock, epoch ms. */
  readonly now: () => number;
  readonly log: Pick<Log, 'warn'>;
}

/** How much longer an id stays burnt than it is accepted: for the clocks of replicas, and a slow provider in between. */
const burnMarginMs = 60_000;

/** How many codes one start may try, and how many starts are counted. */
const codesOfStart = 5;
const countedStarts = 10_000;

/** Creates one OpenID Connect provider; nothing is fetched before it is needed. */
export function createIdentityProvider(options: IdentityProviderOptions): IdentityProvider {
  const { name, settings, network, starts, burn, now, log } = options;
  const { issuer, response } = settings;
  const onFailure = (error: unknown) =>
    log.warn('identity provider unavailable', {
      provider: name,
      cause: error instanceof Refusal ? error.options.cause : String(error),
    });
  const discovery = createDiscovery({ issuer, response, network, now, onFailure });
  const keys = createProviderKeys({ discovery, network, now, onFailure });
  const exchangeCode = createCodeExchange({ settings, discovery, network, now });
  const codesOf = new LRUCache<string, number>({ max: countedStarts });
  const verify = (assertion: string) => verifyAssertion(assertion, { settings, keys, now });

  async function redeemAssertion(assertion: string, binding: string | undefined): Promise<VerifiedIdentity> {
    const verified = await verify(assertion);
    const start = verified.nonce === undefined ? undefined : starts.open(verified.nonce);
    if (start === undefined) {
      // A nonce that is none of ours was for whoever sent the browser here: as good as none.
      if (!settings.unsolicited) throw refusal('no start');
      await burnOnce(`assertion:${verified.replayId}`, verified.acceptedUntil);
      return identityOf(verified, null);
    }
    // One of ours, but another browser's, stays refused even then: somebody carried it here.
    requireStartOf(binding, start);
    await burnOnce(`start:${start.id}`, start.expires);
    return identityOf(verified, start.returnTo);
  }

  async function redeemCode(
    { code, state, issuer: from }: Extract<Presented, { code: string }>,
    binding: string | undefined,
  ): Promise<VerifiedIdentity> {
    // Mix-up (RFC 9207 §2.4): another provider's code must not be shown to this one.
    if (from !== undefined && from !== issuer) throw refusal('iss of the answer');
    const start = starts.open(state);
    if (start === undefined) throw refusal('no start');
    requireStartOf(binding, start);
    requireFewCodes(start.id);
    const verified = await verify(await exchangeCode(code, start));
    if (verified.nonce !== start.companion) throw refusal('nonce');
    await burnOnce(`start:${start.id}`, start.expires);
    return identityOf(verified, start.returnTo);
  }

  /** A start, which costs nothing, pays for a few calls to the provider and not for any number. */
  function requireFewCodes(startId: string): void {
    const tried = (codesOf.get(startId) ?? 0) + 1;
    codesOf.set(startId, tried);
    if (tried > codesOfStart) throw refusal('too many codes for one start');
  }

  function requireStartOf(binding: string | undefined, start: SignInStart): void {
    if (!isStartOf(start, { provider: name, binding, now: now() })) throw refusal('start of another or over');
  }

  /** The last step: a burnt start is lost, so nothing that can still be refused comes after. */
  async function burnOnce(id: string, acceptedUntil: number): Promise<void> {
    if (!(await burn(id, acceptedUntil + burnMarginMs))) throw refusal('used before');
  }

  function identityOf({ claims, subject }: VerifiedAssertion, returnTo: string | null): VerifiedIdentity {
    const profile = profileOf(claims, subject, settings.claims);
    return { issuer, subject, profile, grants: grantsOf(claims, settings.grants), returnTo };
  }

  return {
    name,
    response,

    async start({ binding, returnTo }) {
      const { authorization_endpoint: endpoint } = await discovery.get();
      const expires = now() + settings.start_lifetime;
      const start = starts.begin({ provider: name, binding, returnTo, expires });
      return { url: authorizationUrl({ endpoint, settings, start }) };
    },

    async redeem(presented, binding) {
      if ('assertion' in presented) {
        if (response !== 'id_token') throw refusal('an assertion instead of a code');
        return redeemAssertion(presented.assertion, binding);
      }
      if (response !== 'code') throw refusal('a code instead of an assertion');
      return redeemCode(presented, binding);
    },
  };
}

function refusal(cause: string): Refusal {
  return new Refusal('invalid_assertion', { cause });
}
