import type { IdentityProviderConfig } from '../config/schema.ts';
import { Refusal } from '../errors.ts';
import type { Log } from '../log/log.ts';
import type { SingleUse } from '../stores/single-use.ts';
import { within } from '../stores/timeout.ts';
import { type VerifiedAssertion, verifyAssertion } from './assertion.ts';
import { authorizationUrl } from './authorization-url.ts';
import { type Granted, grantsOf, type Profile, profileOf } from './claims.ts';
import { createCodeExchange } from './code-exchange.ts';
import { createDiscovery } from './discovery.ts';
import { createProviderKeys } from './provider-keys.ts';
import { type ProviderNetwork, ProviderUnavailable } from './provider-network.ts';
import { isBoundTo, type SignInStart, type SignInStarts } from './sign-in-start.ts';

/** Who the provider says it is. The account is (issuer, subject), never anything of the profile. */
export interface VerifiedIdentity {
  readonly issuer: string;
  readonly subject: string;
  readonly profile: Profile;
  readonly grants: Granted;
  /** What began the sign-in; null without one. */
  readonly start: SignInStart | null;
}

/** What the front end got from the provider: the one or the other, by `response`; `issuer` is the `iss` of RFC 9207. */
export type Presented =
  | { readonly assertion: string; readonly issuer?: string | undefined }
  | { readonly code: string; readonly state: string; readonly issuer?: string | undefined };

/** Who brings what the provider returned. */
export interface Sender {
  /** The values of the cookie that a browser which began this start has. */
  bindings(start: SignInStart): readonly string[];
  /** Whether no page but one of ours can have sent it. */
  isOwnPage(): boolean;
}

/** An outside provider that people sign in with. */
export interface IdentityProvider {
  /** As in its paths. */
  readonly name: string;
  readonly response: 'id_token' | 'code';
  /** The address to send the browser to. Rejects with {@link Refusal} `provider_unavailable`. */
  start(from: {
    readonly returnTo: string | null;
  }): Promise<{ readonly url: string; readonly start: SignInStart }>;
  /**
   * Whether what it returns must name it: it announces that, and nothing that is signed says so (RFC 9207 §2.4).
   * Rejects with {@link Refusal} `provider_unavailable`.
   */
  requiresIssuer(): Promise<boolean>;
  /**
   * Who signed in: once, and in the browser that began it.
   *
   * Rejects within 10 s, with {@link Refusal} `invalid_assertion`, `user_not_provisioned` (a required claim is missing),
   * `provider_unavailable`, `store_unavailable`, `overloaded`.
   */
  redeem(presented: Presented, sender: Sender): Promise<VerifiedIdentity>;
}

/** What a provider is made of. */
export interface IdentityProviderOptions {
  readonly name: string;
  readonly settings: IdentityProviderConfig;
  /** The provider's own; closed by whoever made it. */
  readonly network: ProviderNetwork;
  readonly starts: SignInStarts;
  /** Shared by all replicas. */
  readonly singleUse: SingleUse;
  /** The clock, epoch ms. */
  readonly now: () => number;
  readonly log: Pick<Log, 'warn'>;
  /** For all calls to the provider together, each of which may be slow; default 9 s. */
  readonly redeemTimeoutMs?: number;
}

/** How much longer an id stays used than it is accepted: for the clocks of replicas, and a slow provider in between. */
const usedMarginMs = 60_000;

/** Creates one OpenID Connect provider; nothing is fetched before it is needed. */
export function createIdentityProvider(options: IdentityProviderOptions): IdentityProvider {
  const { name, settings, network, starts, singleUse, now, log, redeemTimeoutMs = 9_000 } = options;
  const { issuer, response } = settings;
  const onFailure = (error: unknown) =>
    log.warn('identity provider unavailable', {
      provider: name,
      cause: error instanceof Refusal ? error.options.cause : String(error),
    });
  const discovery = createDiscovery({ issuer, response, network, now, onFailure });
  const keys = createProviderKeys({ discovery, network, now, onFailure });
  const exchangeCode = createCodeExchange({ settings, discovery, network });
  const verify = (assertion: string) => verifyAssertion(assertion, { settings, keys, now });

  async function redeemAssertion(assertion: string, sender: Sender): Promise<VerifiedIdentity> {
    const verified = await verify(assertion);
    const start = verified.nonce === undefined ? undefined : starts.open(verified.nonce);
    if (start === undefined) {
      // A nonce that is none of ours was for whoever sent the browser here: as good as none.
      if (settings.unsolicited !== true) throw refusal('no start');
      await useOnce(`assertion:${verified.replayId}`, verified.acceptedUntil);
      return identityOf(verified, null);
    }
    // One of ours, but another browser's, stays refused even where unsolicited ones pass: somebody carried it here.
    requireOpen(start);
    const isFromAnywhere = settings.unsolicited === 'started' && sender.isOwnPage();
    if (!isFromAnywhere) requireBinding(start, sender);
    // The last step: a start that was used is lost, so nothing that can still be refused comes after.
    await useOnce(idOf(start), start.expires);
    return identityOf(verified, start);
  }

  async function redeemCode(code: string, state: string, sender: Sender): Promise<VerifiedIdentity> {
    const start = starts.open(state);
    if (start === undefined) throw refusal('no start');
    requireOpen(start);
    requireBinding(start, sender);
    const verified = await verify(await redeemOnce(code, start));
    if (verified.nonce !== start.companion) throw refusal('nonce');
    return identityOf(verified, start);
  }

  /**
   * The ID token for a code, which a provider that sees it twice may take for stolen (RFC 6749 §4.1.2): its start is used
   * up before the code is sent, and comes back where it surely was not redeemed.
   */
  async function redeemOnce(code: string, start: SignInStart): Promise<string> {
    // Without its addresses nothing can be sent.
    await discovery.get();
    await useOnce(idOf(start), start.expires);
    try {
      return await exchangeCode(code, start);
    } catch (error) {
      if (error instanceof ProviderUnavailable) onFailure(error);
      // When the store can't take it back, the start is lost, and what the client is told is the same.
      if (isUndone(error)) await singleUse.release(idOf(start)).catch(() => {});
      throw error;
    }
  }

  function requireOpen(start: SignInStart): void {
    if (start.provider !== name || now() >= start.expires) throw refusal('start of another or over');
  }

  function requireBinding(start: SignInStart, sender: Sender): void {
    if (!isBoundTo(start, sender.bindings(start))) throw refusal('start of another or over');
  }

  async function useOnce(id: string, acceptedUntil: number): Promise<void> {
    if (!(await singleUse.consume(id, acceptedUntil + usedMarginMs))) throw refusal('used before');
  }

  function identityOf({ claims, subject }: VerifiedAssertion, start: SignInStart | null): VerifiedIdentity {
    const profile = profileOf(claims, subject, settings.claims);
    return { issuer, subject, profile, grants: grantsOf(claims, settings.grants), start };
  }

  async function redeem(presented: Presented, sender: Sender): Promise<VerifiedIdentity> {
    // Mix-up (RFC 9207 §2.4): another provider's code must not be shown to this one.
    if (presented.issuer !== undefined && presented.issuer !== issuer) throw refusal('iss of the response');
    if ('assertion' in presented) {
      if (response !== 'id_token') throw refusal('an assertion instead of a code');
      return redeemAssertion(presented.assertion, sender);
    }
    if (response !== 'code') throw refusal('a code instead of an assertion');
    return redeemCode(presented.code, presented.state, sender);
  }

  return {
    name,
    response,

    async start({ returnTo }) {
      const { authorization_endpoint: endpoint } = await discovery.get();
      const expires = now() + settings.start_lifetime;
      const start = starts.begin({ provider: name, returnTo, expires });
      return { url: authorizationUrl({ endpoint, settings, start }), start };
    },

    async requiresIssuer() {
      // An ID token names its issuer itself, signed.
      if (response === 'id_token') return false;
      const metadata = await discovery.get();
      return metadata.authorization_response_iss_parameter_supported === true;
    },

    redeem: (presented, sender) =>
      within(redeemTimeoutMs, redeem(presented, sender), () => new ProviderUnavailable('too slow in all')),
  };
}

/** Whether the code can be sent again: it never was, or the provider asked for it to be sent later. */
function isUndone(error: unknown): boolean {
  return error instanceof ProviderUnavailable
    ? error.isUndone
    : (error as Partial<Refusal>).code === 'overloaded';
}

function idOf(start: SignInStart): string {
  return `start:${start.id}`;
}

function refusal(cause: string): Refusal {
  return new Refusal('invalid_assertion', { cause });
}
