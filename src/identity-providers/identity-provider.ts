import { Refusal } from '../errors.ts';
import type { Log } from '../log/log.ts';
import type { Awaitable } from '../stores/awaitable.ts';
import { within } from '../stores/remote/timeout.ts';
import type { SessionsOfProvider } from '../stores/sessions.ts';
import type { SingleUse } from '../stores/single-use.ts';
import type { CachedDocument } from './cached-document.ts';
import { type Granted, grantsOf, type Profile, profileOf } from './claims.ts';
import { type CodeExchange, createCodeExchange } from './code-exchange.ts';
import { canReturnCodes, createDiscovery, type ProviderMetadata } from './discovery.ts';
import { refusal, type VerifiedAssertion, verifyAssertion } from './id-token.ts';
import { type ReadClaims, readKeptClaims } from './kept-claims.ts';
import { createProviderKeys, type ProviderKeys } from './key-set.ts';
import { refusedLogout, verifyLogoutToken } from './logout-token.ts';
import { type ProviderNetwork, ProviderUnavailable } from './provider-network.ts';
import {
  authorizationUrl,
  type EndSessionParameters,
  endSessionUrl,
  type ProviderSettings,
} from './provider-urls.ts';
import { isBoundTo, type SignInStart, type SignInStarts } from './sign-in-start.ts';

/** An identity vouched for by a provider. The account is (issuer, subject), never a part of the profile. */
export interface VerifiedIdentity {
  readonly issuer: string;
  readonly subject: string;
  /** The id of the session at the provider; null if the ID token names none. */
  readonly sid: string | null;
  /** The ID token itself. */
  readonly idToken: string;
  readonly profile: Profile;
  readonly grants: Granted;
  /** The claims that the session keeps, and those that are left out. */
  readonly claims: ReadClaims;
  /** The start of this sign-in; null for an unsolicited one. */
  readonly start: SignInStart | null;
}

/** An assertion or a code, as the provider's setting `response` says; `issuer` is the parameter `iss` of RFC 9207. */
export type Presented =
  | { readonly assertion: string; readonly issuer?: string | undefined }
  | { readonly code: string; readonly state: string; readonly issuer?: string | undefined };

/** The request that presents the provider's response. */
export interface Sender {
  /** The values of the cookie that binds this start to the browser that began it. */
  bindings(start: SignInStart): readonly string[];
  /** True if only one of our own pages can have sent the request. */
  isOwnPage(): boolean;
}

/** Options of {@link IdentityProvider}. */
export interface IdentityProviderOptions {
  readonly name: string;
  /** The provider's name in starts of sign-ins: a start with another name can't be redeemed here. Default: `name`. */
  readonly startsAs?: string;
  readonly settings: ProviderSettings;
  /** The provider's own network; closed by its creator. */
  readonly network: ProviderNetwork;
  readonly starts: SignInStarts;
  /** Remembers used starts and assertions for all replicas. */
  readonly singleUse: SingleUse;
  readonly now: () => number;
  readonly log: Pick<Log, 'warn'>;
  /** Timeout of all calls to the provider together; default 9 s. */
  readonly redeemTimeoutMs?: number;
}

/** Time for which an id stays used after its acceptance ends, ms: for clock differences of replicas and slow providers. */
const usedMarginMs = 60_000;
const redeemTimeoutMs = 9_000;
const nothingKept: ReadClaims = { kept: [], leftOut: [] };

/** An external provider of sign-ins (OpenID Connect); nothing is fetched before it is needed. */
export class IdentityProvider {
  /** The name in the provider's paths. */
  readonly name: string;
  readonly response: 'id_token' | 'code';
  readonly #options: IdentityProviderOptions;
  readonly #startsAs: string;
  readonly #discovery: CachedDocument<ProviderMetadata>;
  readonly #keys: ProviderKeys;
  readonly #exchangeCode: CodeExchange;

  constructor(options: IdentityProviderOptions) {
    const { name, settings, network, now } = options;
    const { issuer, response } = settings;
    this.name = name;
    this.#startsAs = options.startsAs ?? name;
    this.response = response;
    this.#options = options;
    const onFailure = (error: unknown) => this.#logFailure(error);
    this.#discovery = createDiscovery({ issuer, response, network, now, onFailure });
    this.#keys = createProviderKeys({ discovery: this.#discovery, network, now, onFailure });
    this.#exchangeCode = createCodeExchange({ settings, discovery: this.#discovery, network });
  }

  /** Begins a sign-in; returns the URL to send the browser to. Rejects with {@link Refusal} `provider_unavailable`. */
  async start({
    returnTo,
    towardsHost,
  }: Pick<SignInStart, 'returnTo'> & Partial<Pick<SignInStart, 'towardsHost'>>) {
    const { settings, starts, now } = this.#options;
    const { authorization_endpoint: endpoint } = await this.#discovery.get();
    const expires = now() + settings.start_lifetime;
    const start = starts.begin({ provider: this.#startsAs, returnTo, towardsHost, expires });
    return { url: authorizationUrl({ endpoint, settings, start }), start };
  }

  /** The start that a response's `state` contains, even if expired or used, if this browser began it; otherwise undefined. */
  startOf(state: string, { bindings }: Pick<Sender, 'bindings'>): SignInStart | undefined {
    const start = this.#options.starts.open(state);
    return start?.provider === this.#startsAs && isBoundTo(start, bindings(start)) ? start : undefined;
  }

  /**
   * True if the provider's response must carry `iss`: the provider announces it, and nothing signed names the issuer (RFC 9207
   * §2.4). Rejects with {@link Refusal} `provider_unavailable`.
   */
  async requiresIssuer(): Promise<boolean> {
    // An ID token names its issuer itself, signed.
    if (this.response === 'id_token') return false;
    const metadata = await this.#discovery.get();
    return metadata.authorization_response_iss_parameter_supported === true;
  }

  /** True if the provider's metadata allow a response by code, or can't be fetched. */
  async offersCode(): Promise<boolean> {
    const metadata = await this.#discovery.get().catch(() => undefined);
    return metadata === undefined || canReturnCodes(metadata);
  }

  /** The URL for signing out at the provider (RP-Initiated Logout §2); null if there is none, or it can't be fetched. */
  async endSessionUrl(parameters: EndSessionParameters): Promise<string | null> {
    const metadata = await this.#discovery.get().catch(() => undefined);
    const endpoint = metadata?.end_session_endpoint;
    return endpoint === undefined
      ? null
      : endSessionUrl(endpoint, this.#options.settings.client_id, parameters);
  }

  /**
   * Redeems a response for the identity that signed in. It is accepted once and, unless `unsolicited` allows otherwise, only in
   * the browser that began the sign-in. Rejects within 10 s, including the wait for `presented`: as `presented` does, or with
   * {@link Refusal} `invalid_assertion`, `user_not_provisioned` (a required claim is missing), `provider_unavailable`,
   * `store_unavailable`, `overloaded`.
   */
  redeem(presented: Awaitable<Presented>, sender: Sender): Promise<VerifiedIdentity> {
    return this.#inTime(this.#redeem(presented, sender));
  }

  async #redeem(given: Awaitable<Presented>, sender: Sender): Promise<VerifiedIdentity> {
    const presented = await given;
    // Mix-up (RFC 9207 §2.4): another provider's code must not be shown to this one.
    if (presented.issuer !== undefined && presented.issuer !== this.#options.settings.issuer)
      throw refusal('iss of the response');
    if ('assertion' in presented) {
      if (this.response !== 'id_token') throw refusal('an assertion instead of a code');
      return this.#redeemAssertion(presented.assertion, sender);
    }
    if (this.response !== 'code') throw refusal('a code instead of an assertion');
    return this.#redeemCode(presented.code, presented.state, sender);
  }

  async #redeemAssertion(assertion: string, sender: Sender): Promise<VerifiedIdentity> {
    const { settings, starts } = this.#options;
    const verified = await this.#verify(assertion);
    const start = verified.nonce === undefined ? undefined : starts.open(verified.nonce);
    if (start === undefined) {
      // A foreign nonce belongs to another site that sent the browser here: it counts as absent.
      if (settings.unsolicited !== true) throw refusal('no start');
      await this.#useOnce(`assertion:${verified.replayId}`, verified.acceptedUntil);
      return this.#identityOf(assertion, verified, null);
    }
    // Our own start from another browser is refused even where unsolicited assertions pass: someone carried it here.
    this.#requireOpen(start);
    const isFromAnywhere = settings.unsolicited === 'started' && sender.isOwnPage();
    if (!isFromAnywhere) requireBinding(start, sender);
    // The last step: a used start is lost, so everything that can refuse comes before it.
    await this.#useOnce(idOf(start), start.expires);
    return this.#identityOf(assertion, verified, start);
  }

  async #redeemCode(code: string, state: string, sender: Sender): Promise<VerifiedIdentity> {
    const start = this.#options.starts.open(state);
    if (start === undefined) throw refusal('no start');
    this.#requireOpen(start);
    requireBinding(start, sender);
    const idToken = await this.#redeemOnce(code, start);
    const verified = await this.#verify(idToken);
    if (verified.nonce !== start.companion) throw refusal('nonce');
    return this.#identityOf(idToken, verified, start);
  }

  /**
   * Exchanges a code for the ID token. A provider that sees a code twice may treat it as stolen (RFC 6749 §4.1.2), so the start
   * is consumed before the code is sent, and released if the code was certainly not redeemed.
   */
  async #redeemOnce(code: string, start: SignInStart): Promise<string> {
    // Without the provider's endpoints nothing can be sent.
    await this.#discovery.get();
    await this.#useOnce(idOf(start), start.expires);
    try {
      return await this.#exchangeCode(code, start);
    } catch (error) {
      if (error instanceof ProviderUnavailable) this.#logFailure(error);
      // If the store can't release it, the start is lost; the client gets the same response.
      if (isUndone(error)) await this.#options.singleUse.release(idOf(start)).catch(() => {});
      throw error;
    }
  }

  /**
   * Ends the sessions that a logout token of the provider names, by calling `end`. A token is accepted once; if `end` rejects, so
   * does this method, and the token can be sent again. Rejects with {@link Refusal} `bad_request`, `provider_unavailable` within
   * 10 s, `store_unavailable`.
   */
  async logOut(token: string, end: (which: SessionsOfProvider) => Promise<void>): Promise<void> {
    const { settings, now, singleUse } = this.#options;
    const verified = verifyLogoutToken(token, { settings, keys: this.#keys, now });
    const { sessions, replayId, acceptedUntil } = await this.#inTime(verified);
    const id = `logout:${replayId}`;
    if (await singleUse.wasConsumed(id)) throw refusedLogout('used before');
    await end(sessions);
    // Last, because the provider must be able to send the token again until then; of several at once, one wins.
    if (!(await singleUse.consume(id, acceptedUntil + usedMarginMs))) throw refusedLogout('used before');
  }

  #inTime<T>(work: Promise<T>): Promise<T> {
    const timeoutMs = this.#options.redeemTimeoutMs ?? redeemTimeoutMs;
    return within(timeoutMs, work, () => new ProviderUnavailable('the calls together took too long'));
  }

  #verify(assertion: string): Promise<VerifiedAssertion> {
    const { settings, now } = this.#options;
    return verifyAssertion(assertion, { settings, keys: this.#keys, now });
  }

  #requireOpen(start: SignInStart): void {
    if (start.provider !== this.#startsAs || this.#options.now() >= start.expires)
      throw refusal('start expired or of another provider');
  }

  async #useOnce(id: string, acceptedUntil: number): Promise<void> {
    if (!(await this.#options.singleUse.consume(id, acceptedUntil + usedMarginMs)))
      throw refusal('used before');
  }

  #identityOf(
    idToken: string,
    { claims, subject, sid }: VerifiedAssertion,
    start: SignInStart | null,
  ): VerifiedIdentity {
    const { settings } = this.#options;
    const profile = profileOf(claims, subject, settings.claims);
    const grants = grantsOf(claims, settings.grants);
    const { issuer, keep } = settings;
    const kept = Object.keys(keep).length === 0 ? nothingKept : readKeptClaims(idToken, keep);
    return { issuer, subject, sid: sid ?? null, idToken, profile, grants, claims: kept, start };
  }

  #logFailure(error: unknown): void {
    this.#options.log.warn('identity provider unavailable', {
      provider: this.name,
      reason: error instanceof Refusal ? error.options.cause : String(error),
    });
  }
}

function requireBinding(start: SignInStart, sender: Sender): void {
  if (!isBoundTo(start, sender.bindings(start))) throw refusal('start of another browser');
}

/** True if the code can be sent again: it was never sent, or the provider asked to retry later. */
function isUndone(error: unknown): boolean {
  return error instanceof ProviderUnavailable
    ? error.isUndone
    : (error as Partial<Refusal>).code === 'overloaded';
}

function idOf(start: SignInStart): string {
  return `start:${start.id}`;
}
