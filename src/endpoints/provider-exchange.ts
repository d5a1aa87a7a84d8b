import type { RecentUse } from '../credentials/recent-use.ts';
import { Refusal } from '../errors.ts';
import type { Exchange } from '../http/exchange.ts';
import { assertNotForeignPage, type IsKnownOrigin, isSurelyOwnPage } from '../http/foreign-page.ts';
import type { Reply } from '../http/reply.ts';
import type {
  IdentityProvider,
  Presented,
  Sender,
  VerifiedIdentity,
} from '../identity-providers/identity-provider.ts';
import type { SignInStart } from '../identity-providers/sign-in-start.ts';
import { readForm } from '../input/form-body.ts';
import { readQuery } from '../input/query.ts';
import { type AuditEntry, actorOfSession, anonymous } from '../log/log.ts';
import type { UserWithSets } from '../stores/user.ts';
import type { Audit } from './audit.ts';
import type { Endpoint } from './endpoint.ts';
import type { ProviderAccounts } from './provider-accounts.ts';
import { type ReadFields, readPresented, secretFields } from './provider-exchange-fields.ts';
import type { LoginReply, SignedIn, SignIn } from './sign-in.ts';
import type { StartCookies } from './start-cookies.ts';

/** What the exchange of one provider needs. */
export interface ProviderExchangeOptions {
  readonly provider: Pick<IdentityProvider, 'name' | 'response' | 'requiresIssuer' | 'redeem'>;
  readonly accounts: ProviderAccounts;
  readonly cookies: Pick<StartCookies, 'bindings' | 'clear'>;
  readonly isKnownOrigin: IsKnownOrigin;
  /** Whether browsers reach the gateway over https only. */
  readonly isHttps: boolean;
  readonly signIn: SignIn;
  readonly recentUse: RecentUse;
  readonly audit: Audit;
  readonly now: () => number;
}

/**
 * `GET` and `POST /api/login/{provider}/exchange`: a session for what the provider gave the front end
 * (OpenID Connect Core §3.1.2.5, §3.2.2.5; RFC 9207).
 */
export function createProviderExchange(options: ProviderExchangeOptions): readonly Endpoint<'open'>[] {
  const signIn = new ProviderSignIn(options);
  const { provider } = options;
  const secret = secretFields;
  return [
    {
      method: 'GET',
      path: `/api/login/${provider.name}/exchange`,
      guard: 'open',
      oauth: true,
      noHead: true,
      handle: ({ exchange }) =>
        signIn.respond(exchange, (schema) => readQuery(exchange.query, schema, { secret })),
    },
    {
      method: 'POST',
      path: `/api/login/${provider.name}/exchange`,
      guard: 'open',
      oauth: true,
      async handle({ exchange, body }) {
        const { head } = exchange;
        // Login CSRF: a foreign page must not sign a browser in to another account, or use up its start.
        assertNotForeignPage(head, options.isKnownOrigin);
        return signIn.respond(exchange, (schema) => readForm(body, head.contentType, schema, { secret }));
      },
    },
  ];
}

/** Sign-in through one provider, once the front end has what the provider returned. */
class ProviderSignIn {
  readonly #options: ProviderExchangeOptions;

  constructor(options: ProviderExchangeOptions) {
    this.#options = options;
  }

  async respond(exchange: Exchange, read: ReadFields): Promise<Reply> {
    const { provider, recentUse, audit, now } = this.#options;
    const identity = await this.#redeem(exchange, await readPresented(provider, read));
    const found = await this.#requireAccount(exchange, identity);
    const { session, reply } = await this.#startSession(exchange, found, identity);
    const { userId } = session;
    recentUse.noteLogin(userId, now());
    audit(exchange, {
      event: 'login_succeeded',
      outcome: 'success',
      actor: actorOfSession(userId, session.id),
      subject: userId,
      session: session.id,
      provider: provider.name,
    });
    return this.#completed(exchange, reply, identity.start);
  }

  async #redeem(exchange: Exchange, presented: Presented): Promise<VerifiedIdentity> {
    const { provider, cookies, isKnownOrigin, isHttps } = this.#options;
    const { head } = exchange;
    const sender: Sender = {
      bindings: (start) => cookies.bindings(head.cookie, start),
      isOwnPage: () => isSurelyOwnPage(head, isKnownOrigin, isHttps),
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
    const { accounts, audit, provider } = this.#options;
    const accepted = await accounts.accept(identity, exchange.id);
    if (accepted === undefined)
      throw this.#notProvisioned(exchange, {
        subject: null,
        reason: 'no account',
        providerSubject: identity.subject,
      });
    const { found, isNew } = accepted;
    const { id: subject, disabled } = found.user;
    if (disabled) throw this.#notProvisioned(exchange, { subject, reason: 'disabled' });
    if (isNew)
      audit(exchange, {
        event: 'user_created',
        outcome: 'success',
        actor: { user: null, kind: 'provider' },
        subject,
        provider: provider.name,
      });
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
    const started = await signIn.start(exchange, found, provider.name, '');
    try {
      if (await accounts.maySignIn(id, identity)) return started;
      const reason = 'disabled or unlinked in the meantime';
      throw this.#notProvisioned(exchange, { subject: id, reason });
    } catch (error) {
      await signIn.cancel(started.session);
      throw error;
    }
  }

  /** Adds `return_to` of the start, and clears the start's cookie. */
  #completed({ head }: Exchange, reply: LoginReply, start: SignInStart | null): Reply {
    if (start === null) return reply;
    const { returnTo } = start;
    return {
      ...reply,
      headers: [...(reply.headers ?? []), ...this.#options.cookies.clear(head.cookie, start)],
      body: returnTo === null ? reply.body : { ...reply.body, return_to: returnTo },
    };
  }

  #notProvisioned(exchange: Exchange, about: FailedSignIn): Refusal {
    this.#auditFailure(exchange, about);
    return new Refusal('user_not_provisioned', { cause: about.reason });
  }

  #auditFailure(exchange: Exchange, about: FailedSignIn): void {
    const { audit, provider } = this.#options;
    audit(exchange, {
      event: 'login_failed',
      outcome: 'failure',
      actor: anonymous,
      provider: provider.name,
      ...about,
    });
  }
}

/** What the audit line says about a sign-in that failed. */
interface FailedSignIn extends Pick<AuditEntry, 'subject' | 'providerSubject'> {
  readonly reason: string;
}
