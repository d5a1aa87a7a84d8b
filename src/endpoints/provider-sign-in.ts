import type { ChangeEvent } from '../administration/audit.ts';
import { changesBetween } from '../administration/changes-between.ts';
import { type KeepSignInOptions, keepSignIn } from '../administration/kept-sign-in.ts';
import { userEvent } from '../administration/user-events.ts';
import type { IdTokenSeals } from '../credentials/sealed-id-token.ts';
import { Refusal } from '../errors.ts';
import type { Exchange } from '../http/exchange.ts';
import { type IsKnownOrigin, isSurelyOwnPage } from '../http/foreign-page.ts';
import type {
  IdentityProvider,
  Presented,
  Sender,
  VerifiedIdentity,
} from '../identity-providers/identity-provider.ts';
import type { SignInStart } from '../identity-providers/sign-in-start.ts';
import type { AuditEntry } from '../log/log.ts';
import type { Awaitable } from '../stores/awaitable.ts';
import type { AcceptedIdentity } from '../stores/identity.ts';
import type { UserWithSets } from '../stores/user.ts';
import { anonymousIn, authorIn, originOf } from './caller.ts';
import type { ProviderAccounts } from './provider-accounts.ts';
import type { SignedIn, SignIn, SignInOrigin } from './sign-in.ts';
import type { StartCookies } from './start-cookies.ts';

/** Dependencies of {@link ProviderSignIn}. */
export interface ProviderSignInOptions extends KeepSignInOptions {
  readonly provider: Pick<IdentityProvider, 'name' | 'redeem'>;
  readonly accounts: ProviderAccounts;
  readonly cookies: Pick<StartCookies, 'bindings'>;
  /** True if pages of an origin may bring an assertion without the cookie of its start (`unsolicited: started`). */
  readonly isFrontEnd: IsKnownOrigin;
  /** True if browsers reach the gateway over https only. */
  readonly isHttps: boolean;
  readonly signIn: SignIn;
  /** Seals the ID token, which the session keeps; absent: it isn't kept. */
  readonly sealIdToken?: IdTokenSeals['seal'] | undefined;
}

/** A new session by a provider. */
export interface SignedInByProvider extends SignedIn {
  /** Null: the provider sent the browser here by itself. */
  readonly start: SignInStart | null;
}

/** Sign-in through one provider, once a page has what the provider returned. */
export class ProviderSignIn {
  readonly #options: ProviderSignInOptions;

  constructor(options: ProviderSignInOptions) {
    this.#options = options;
  }

  /**
   * A new session for the person whom the provider names. Rejects as `presented` and `IdentityProvider.redeem` do, and with
   * `user_not_provisioned`.
   */
  async signIn(exchange: Exchange, presented: Awaitable<Presented>): Promise<SignedInByProvider> {
    const { provider } = this.#options;
    const identity = await this.#redeem(exchange, presented);
    const found = await this.#requireAccount(exchange, identity);
    const signedIn = await this.#startSession(exchange, found, identity);
    await keepSignIn(this.#options, originOf(exchange), signedIn.session, provider.name);
    return { ...signedIn, start: identity.start };
  }

  async #redeem(exchange: Exchange, presented: Awaitable<Presented>): Promise<VerifiedIdentity> {
    const { provider, cookies, isFrontEnd, isHttps } = this.#options;
    const { head } = exchange;
    const sender: Sender = {
      bindings: (start) => cookies.bindings(head.cookie, start),
      isOwnPage: () => isSurelyOwnPage(head, isFrontEnd, isHttps),
    };
    try {
      return await provider.redeem(presented, sender);
    } catch (error) {
      // An unavailable provider or store has not refused the sign-in.
      if (error instanceof Refusal && error.status < 500)
        this.#auditFailure(exchange, { subject: null, reason: String(error.options.cause) });
      throw error;
    }
  }

  async #requireAccount(exchange: Exchange, identity: VerifiedIdentity): Promise<UserWithSets> {
    const { accounts, provider, audit } = this.#options;
    const byProvider = authorIn(exchange, { user: null, kind: 'provider' });
    const events = (made: AcceptedIdentity) => eventsOf(made, provider.name);
    const accepted = await accounts.accept(identity, exchange.id, audit.withChange(byProvider, events));
    if (accepted === undefined)
      throw this.#notProvisioned(exchange, {
        subject: null,
        reason: 'no account',
        providerSubject: identity.subject,
      });
    const { found } = accepted;
    const { id: subject, disabled, kind } = found.user;
    if (disabled) throw this.#notProvisioned(exchange, { subject, reason: 'disabled' });
    if (kind === 'service') throw this.#notProvisioned(exchange, { subject, reason: 'service' });
    return found;
  }

  /**
   * Disabling a user or unlinking an identity ends the sessions that exist. This one may be created just after that, so
   * the account is checked once more.
   */
  async #startSession(
    exchange: Exchange,
    found: UserWithSets,
    identity: VerifiedIdentity,
  ): Promise<SignedIn> {
    const { signIn, provider, accounts } = this.#options;
    const { id } = found.user;
    const started = await signIn.start(exchange, found, provider.name, '', this.#originOf(identity));
    try {
      if (await accounts.maySignIn(id, identity)) return started;
      const reason = 'disabled or unlinked in the meantime';
      throw this.#notProvisioned(exchange, { subject: id, reason });
    } catch (error) {
      await signIn.cancel(started.session);
      throw error;
    }
  }

  #originOf({ issuer, subject, sid, idToken }: VerifiedIdentity): SignInOrigin {
    const { sealIdToken } = this.#options;
    return {
      provider: { issuer, subject, sid },
      sealIdToken: sealIdToken && ((sessionId) => sealIdToken(sessionId, idToken)),
    };
  }

  #notProvisioned(exchange: Exchange, about: FailedSignIn): Refusal {
    this.#auditFailure(exchange, about);
    return new Refusal('user_not_provisioned', { cause: about.reason });
  }

  #auditFailure(exchange: Exchange, about: FailedSignIn): void {
    const { audit, provider } = this.#options;
    audit.record(anonymousIn(exchange), {
      event: 'login_failed',
      outcome: 'failure',
      provider: provider.name,
      ...about,
    });
  }
}

/** Events of a sign-in that created a user, or changed the user's profile or grants. */
function eventsOf({ found, before }: AcceptedIdentity, provider: string): readonly ChangeEvent[] {
  const changes = changesBetween(before === undefined ? {} : auditedFields(before), auditedFields(found));
  if (before !== undefined && changes === null) return [];
  return [{ ...userEvent(before === undefined ? 'user_created' : 'user_changed', found), provider, changes }];
}

/** Fields that a provider can change: the profile and the grants. */
function auditedFields({ user, grants }: UserWithSets) {
  const { username, displayName, email } = user;
  return {
    username,
    display_name: displayName ?? undefined,
    email: email ?? undefined,
    scopes: [...new Set(grants.flatMap((grant) => grant.scopes))],
    scope_sets: [...new Set(grants.flatMap((grant) => grant.scopeSets))],
  };
}

/** Facts about a failed sign-in, for its audit event. */
interface FailedSignIn extends Pick<AuditEntry, 'subject' | 'providerSubject'> {
  readonly reason: string;
}
