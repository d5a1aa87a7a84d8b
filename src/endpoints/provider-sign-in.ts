import { uuidv7 } from 'uuidv7';
import { type KeepSignInOptions, keepSignIn } from '../administration/sessions.ts';
import { acceptedUserEvents } from '../administration/user-events.ts';
import type { IdentityProviderConfig } from '../config/sections/schema.ts';
import type { ClaimSeals, IdTokenSeals } from '../credentials/session-seals.ts';
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
import type { AuditEntry, Log } from '../log/log.ts';
import { canonicalAccountName, parseUsername } from '../rules/account-name.ts';
import type { AuditOf } from '../stores/audit.ts';
import type { Awaitable } from '../stores/awaitable.ts';
import type { AcceptedIdentity, Identity, NewIdentityUser } from '../stores/identity.ts';
import type { Records } from '../stores/records.ts';
import type { UserWithSets } from '../stores/user.ts';
import { anonymousIn, authorIn, originOf } from './caller.ts';
import type { SignedIn, SignIn, SignInOrigin } from './sign-in.ts';
import type { StartCookies } from './start-cookies.ts';

/** Dependencies of {@link ProviderSignIn}. */
export interface ProviderSignInOptions extends KeepSignInOptions {
  readonly provider: Pick<IdentityProvider, 'name' | 'redeem'>;
  readonly accounts: ReturnType<typeof createProviderAccounts>;
  readonly cookies: Pick<StartCookies, 'bindings'>;
  /** True if pages of an origin may present an assertion without the cookie of its start (`unsolicited: started`). */
  readonly isFrontEnd: IsKnownOrigin;
  /** True if browsers reach the gateway over https only. */
  readonly isHttps: boolean;
  readonly signIn: SignIn;
  /** Seals the ID token that the session keeps; absent: no ID token is kept. */
  readonly sealIdToken?: IdTokenSeals['seal'] | undefined;
  /** Seals the claims that the session keeps. */
  readonly sealClaims: ClaimSeals['seal'];
  readonly log: Pick<Log, 'warn'>;
}

/** A new session that began with a sign-in through a provider. */
export interface SignedInByProvider extends SignedIn {
  /** The start of the sign-in; null for an unsolicited one. */
  readonly start: SignInStart | null;
}

/** Sign-in through one provider, once it has sent its response. */
export class ProviderSignIn {
  readonly #options: ProviderSignInOptions;

  constructor(options: ProviderSignInOptions) {
    this.#options = options;
  }

  /**
   * Creates a session for the user whom the provider names. Rejects as `presented` and `IdentityProvider.redeem` do, and with
   * `user_not_provisioned`.
   */
  async signIn(exchange: Exchange, presented: Awaitable<Presented>): Promise<SignedInByProvider> {
    const { provider } = this.#options;
    const identity = await this.#redeem(exchange, presented);
    const found = await this.#requireAccount(exchange, identity);
    const signedIn = await this.#startSession(exchange, found, identity);
    await keepSignIn(this.#options, originOf(exchange), signedIn, provider.name);
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
    const events = (made: AcceptedIdentity) => acceptedUserEvents(made, provider.name);
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
   * Creates the session, then checks the account once more: disabling a user or unlinking an identity ends only the sessions that
   * already exist, and may have happened just before.
   */
  async #startSession(
    exchange: Exchange,
    found: UserWithSets,
    identity: VerifiedIdentity,
  ): Promise<SignedIn> {
    const { signIn, provider, accounts } = this.#options;
    const { id } = found.user;
    const started = await signIn.start(exchange, found, provider.name, '', this.#originOf(identity));
    this.#noteLeftOut(exchange, identity);
    try {
      if (await accounts.maySignIn(id, identity)) return started;
      const reason = 'disabled or unlinked in the meantime';
      throw this.#notProvisioned(exchange, { subject: id, reason });
    } catch (error) {
      await signIn.cancel(started.session);
      throw error;
    }
  }

  #originOf({ issuer, subject, sid, idToken, claims }: VerifiedIdentity): SignInOrigin {
    const { sealIdToken, sealClaims } = this.#options;
    return {
      provider: { issuer, subject, sid },
      sealIdToken: sealIdToken && ((sessionId) => sealIdToken(sessionId, idToken)),
      sealClaims: (sessionId) => sealClaims(sessionId, claims.kept),
    };
  }

  #noteLeftOut({ id }: Exchange, { claims }: VerifiedIdentity): void {
    const { log, provider } = this.#options;
    for (const { claim, reason } of claims.leftOut)
      log.warn('claim of an identity provider not kept', {
        provider: provider.name,
        claim,
        reason,
        request_id: id,
      });
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

interface FailedSignIn extends Pick<AuditEntry, 'subject' | 'providerSubject'> {
  readonly reason: string;
}

/** Creates the functions that find, create and check accounts for the identities of the provider with that name. */
export function createProviderAccounts(options: {
  readonly provider: string;
  readonly accounts: IdentityProviderConfig['accounts'];
  readonly records: Pick<Records, 'acceptIdentity' | 'findScopeSetByName' | 'findUser' | 'identitiesOf'>;
  /** Epoch ms. */
  readonly now: () => number;
  readonly log: Pick<Log, 'warn'>;
}) {
  const { provider, accounts, records, now, log } = options;

  async function idsOfSets(names: readonly string[], requestId: string): Promise<string[]> {
    const found = await Promise.all(names.map((name) => records.findScopeSetByName(name)));
    const unknown = names.filter((_, index) => found[index] === undefined);
    // Removing a set takes it away from every user, but must not stop them from signing in.
    for (const name of unknown) {
      const about = { provider, scope_set: name, request_id: requestId };
      log.warn('grant of an identity provider skipped: its scope set does not exist', about);
    }
    return found.flatMap((set) => (set === undefined ? [] : [set.id]));
  }

  return {
    /**
     * Updates the account of an identity (issuer and subject, nothing else) with what the provider grants now, and resolves to
     * it; it may be disabled. A first sign-in creates an account where that is configured; undefined if there is none.
     */
    async accept(
      { issuer, subject, profile, grants }: VerifiedIdentity,
      requestId: string,
      audit: AuditOf<AcceptedIdentity>,
    ): Promise<AcceptedIdentity | undefined> {
      const claims = {
        issuer,
        subject,
        displayName: profile.displayName,
        email: profile.email,
        scopes: grants.scopes,
        scopeSets: await idsOfSets(grants.scopeSets, requestId),
        grants: grants.grants,
        provider,
      };
      const newUser = accounts === 'create' ? newUserOf(profile.username, provider, now()) : null;
      return records.acceptIdentity(claims, newUser, audit);
    },

    /** True if the identity is linked to that user right now, and the user is an enabled person. */
    async maySignIn(userId: string, { issuer, subject }: Identity): Promise<boolean> {
      const found = await records.findUser(userId);
      if (found === undefined || found.user.disabled || found.user.kind === 'service') return false;
      const identities = await records.identitiesOf(userId);
      return identities.some((identity) => identity.issuer === issuer && identity.subject === subject);
    },
  };
}

/** New user with candidates for its name, in order of preference, because names may be taken; the last one is the id. */
function newUserOf(username: string, provider: string, created: number): NewIdentityUser {
  const id = uuidv7();
  const names = [username, `${username} (${provider})`, `${username} (${id})`, id]
    .map(parseUsername)
    .filter((name) => typeof name === 'string')
    .map((name) => ({ username: name, canonicalName: canonicalAccountName(name) }));
  return { id, created, names };
}
