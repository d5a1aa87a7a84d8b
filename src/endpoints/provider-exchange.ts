import { z } from 'zod';
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
import { loginResponse } from './login-response.ts';
import type { ProviderAccounts } from './provider-accounts.ts';
import type { LoginReply, SignedIn, SignIn } from './sign-in.ts';
import type { StartCookies } from './start-cookies.ts';

const assertionFields = z.object({ assertion: z.string(), iss: z.string().optional() });
const codeFields = z.object({ code: z.string(), state: z.string(), iss: z.string().optional() });
const codeFieldsWithIssuer = codeFields.required();

/** What the front end brings, for the document: which of it, is the provider's `response`. */
export const exchangeFields = z
  .object({
    assertion: z
      .string()
      .optional()
      .describe('Required with `response: id_token`: the ID token (a JWT) that the provider returned.'),
    code: z
      .string()
      .optional()
      .describe('Required with `response: code`, as `state`: what the provider returned.'),
    state: z.string().optional(),
    iss: z
      .string()
      .optional()
      .describe(
        'As the provider returned it (RFC 9207); required beside `code` where the provider announces that it returns it.',
      ),
  })
  .meta({ id: 'Body_Authentication-ExchangeForm', title: 'Body_Authentication-ExchangeForm' });

/** None of them is ever shown in a problem. */
const secret = ['assertion', 'code', 'state'] as const;

/** What the exchange answers. */
export const exchangeResponse = loginResponse
  .extend({ return_to: z.string().optional().describe('As the start was given it.') })
  .meta({ id: 'ExchangeResponse' });

/** Reads fields from where a call has them; throws {@link ../errors.ts ValidationError}. */
type ReadFields = <S extends z.ZodObject>(schema: S) => z.output<S>;

/**
 * `GET` and `POST /api/login/{provider}/exchange`: a session for what the provider gave the front end
 * (OpenID Connect Core §3.1.2.5, §3.2.2.5; RFC 9207).
 */
export function createProviderExchange(options: {
  readonly provider: Pick<IdentityProvider, 'name' | 'response' | 'requiresIssuer' | 'redeem'>;
  readonly accounts: ProviderAccounts;
  readonly cookies: Pick<StartCookies, 'bindings' | 'clear'>;
  readonly isKnownOrigin: IsKnownOrigin;
  /** Whether browsers reach the gateway over https alone. */
  readonly isHttps: boolean;
  readonly signIn: SignIn;
  readonly recentUse: RecentUse;
  readonly audit: Audit;
  readonly now: () => number;
}): readonly Endpoint<'open'>[] {
  const { provider, accounts, cookies, isKnownOrigin, isHttps, signIn, recentUse, audit, now } = options;

  function auditFailure(
    exchange: Exchange,
    about: Pick<AuditEntry, 'subject' | 'providerSubject' | 'reason'>,
  ) {
    audit(exchange, {
      event: 'login_failed',
      outcome: 'failure',
      actor: anonymous,
      provider: provider.name,
      ...about,
    });
  }

  async function readPresented(read: ReadFields): Promise<Presented> {
    if (provider.response === 'id_token') {
      const { assertion, iss: issuer } = read(assertionFields);
      return { assertion, issuer };
    }
    const { code, state, iss: issuer } = read(codeFields);
    // What the client alone did wrong is told without asking the provider for anything.
    if (issuer === undefined && (await provider.requiresIssuer())) read(codeFieldsWithIssuer);
    return { code, state, issuer };
  }

  async function redeem(exchange: Exchange, presented: Presented): Promise<VerifiedIdentity> {
    const { head } = exchange;
    const sender: Sender = {
      bindings: (start) => cookies.bindings(head.cookie, start),
      isOwnPage: () => isSurelyOwnPage(head, isKnownOrigin, isHttps),
    };
    try {
      return await provider.redeem(presented, sender);
    } catch (error) {
      // A provider or store that is unavailable has refused nobody.
      if (error instanceof Refusal && error.status < 500)
        auditFailure(exchange, { subject: null, reason: String(error.options.cause) });
      throw error;
    }
  }

  function notProvisioned(
    exchange: Exchange,
    subject: string | null,
    reason: string,
    providerSubject?: string,
  ) {
    auditFailure(exchange, { subject, reason, ...(providerSubject !== undefined && { providerSubject }) });
    return new Refusal('user_not_provisioned', { cause: reason });
  }

  async function requireAccount(exchange: Exchange, identity: VerifiedIdentity): Promise<UserWithSets> {
    const accepted = await accounts.accept(identity);
    if (accepted === undefined) throw notProvisioned(exchange, null, 'no account', identity.subject);
    const { found, isNew } = accepted;
    const { id, disabled } = found.user;
    if (disabled) throw notProvisioned(exchange, id, 'disabled');
    if (isNew)
      audit(exchange, {
        event: 'user_created',
        outcome: 'success',
        actor: { user: null, kind: 'provider' },
        subject: id,
        provider: provider.name,
      });
    return found;
  }

  /**
   * Who disables a user, or takes the identity away, ends the sessions there are. This one may be made just after: so
   * the account is looked at once more.
   */
  async function startSession(
    exchange: Exchange,
    found: UserWithSets,
    identity: VerifiedIdentity,
  ): Promise<SignedIn> {
    const { id } = found.user;
    const started = await signIn.start(exchange, found, provider.name, '');
    try {
      if (await accounts.isStillGood(id, identity)) return started;
      throw notProvisioned(exchange, id, 'disabled or unlinked meanwhile');
    } catch (error) {
      await signIn.cancel(started.session);
      throw error;
    }
  }

  async function exchangeFor(exchange: Exchange, read: ReadFields): Promise<Reply> {
    const identity = await redeem(exchange, await readPresented(read));
    const found = await requireAccount(exchange, identity);
    const { session, reply } = await startSession(exchange, found, identity);
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
    return completed(exchange, reply, identity.start);
  }

  /** With what the start was given; its cookie has served. */
  function completed({ head }: Exchange, reply: LoginReply, start: SignInStart | null): Reply {
    if (start === null) return reply;
    const { returnTo } = start;
    return {
      ...reply,
      headers: [...(reply.headers ?? []), ...cookies.clear(head.cookie, start)],
      body: returnTo === null ? reply.body : { ...reply.body, return_to: returnTo },
    };
  }

  const common = { guard: 'open', oauth: true } as const;
  return [
    {
      ...common,
      method: 'GET',
      path: `/api/login/${provider.name}/exchange`,
      noHead: true,
      handle: ({ exchange }) =>
        exchangeFor(exchange, (schema) => readQuery(exchange.query, schema, { secret })),
    },
    {
      ...common,
      method: 'POST',
      path: `/api/login/${provider.name}/exchange`,
      async handle({ exchange, body }) {
        // Nobody is signed in to an account that is not theirs, and no start of theirs is used up.
        assertNotForeignPage(exchange.head, isKnownOrigin);
        return exchangeFor(exchange, (schema) =>
          readForm(body, exchange.head.contentType, schema, { secret }),
        );
      },
    },
  ];
}
