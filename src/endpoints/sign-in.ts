import { uuidv7 } from 'uuidv7';
import { z } from 'zod';
import type { Audit } from '../administration/audit.ts';
import { scopesOf } from '../administration/live-sessions.ts';
import { recordSessionEnd } from '../administration/sessions.ts';
import type { AccessTokens } from '../credentials/access-token.ts';
import type { Holdings } from '../credentials/holdings.ts';
import type { RefreshCookies } from '../credentials/refresh-cookie.ts';
import { parseScope } from '../credentials/scopes.ts';
import { type CookieAttributes, setCookie } from '../http/cookies.ts';
import type { Exchange } from '../http/exchange.ts';
import type { Reply } from '../http/reply.ts';
import type { ProviderIdentity, Session, Sessions, SessionTimes } from '../stores/sessions.ts';
import type { UserWithSets } from '../stores/user.ts';
import { systemIn } from './caller.ts';

/** Schema of the response to every sign-in and refresh (RFC 6749 §5.1); the refresh token is in the cookie. */
export const loginResponse = z
  .object({
    access_token: z.string(),
    token_type: z.literal('bearer'),
    expires_in: z.int().nonnegative().describe('Seconds.'),
    scope: z.string().describe('What the token may do: sorted, one space between; empty: nothing.'),
  })
  .meta({ id: 'LoginResponse' });

/** Reply to a successful sign-in or refresh, with a `LoginResponse` as its body. */
export type LoginReply = Reply & { readonly body: z.output<typeof loginResponse> };

/** Facts about a sign-in through an identity provider, for its session to keep. */
export interface SignInOrigin {
  readonly provider: ProviderIdentity;
  /** Seals the ID token (credentials/session-seals.ts); null: it is too long to keep. Absent: no ID token is kept. */
  readonly sealIdToken?: ((sessionId: string) => string | null) | undefined;
  /** Seals the claims that are kept; null: there are none. Absent: none is kept. */
  readonly sealClaims?: ((sessionId: string) => string | null) | undefined;
}

/** A new session, and the response with its tokens. */
export interface SignedIn {
  readonly session: Session;
  readonly username: string;
  readonly reply: LoginReply;
}

/** Number of characters of a User-Agent that a session keeps. */
const maxUserAgentLength = 256;

interface SignInParts {
  readonly sessions: Pick<Sessions, 'create' | 'revoke'>;
  readonly times: SessionTimes;
  readonly tokens: AccessTokens;
  readonly cookies: RefreshCookies;
  readonly cookie: CookieAttributes;
  readonly holdings: Holdings;
  /** Maximum number of sessions that a user keeps; absent: no bound. */
  readonly maxPerUser?: number | undefined;
  readonly audit: Audit;
  readonly onSessionEnded: (sessionId: string) => void;
}

/** The last step of every sign-in and refresh, which issues the tokens of a session. */
export class SignIn {
  readonly #parts: SignInParts;

  constructor(parts: SignInParts) {
    this.#parts = parts;
  }

  /** Creates a session and responds with its tokens. `scope` is what the client asked for; blank: no restriction. */
  async start(
    exchange: Exchange,
    found: UserWithSets,
    method: string,
    scope: string,
    origin?: SignInOrigin,
  ): Promise<SignedIn> {
    const { sessions, times, maxPerUser, audit, onSessionEnded } = this.#parts;
    const id = uuidv7();
    const { session, now, ended } = await sessions.create(
      {
        id,
        userId: found.user.id,
        method,
        scope: scope.trim() === '' ? null : askedScopes(scope),
        address: exchange.address,
        userAgent: exchange.head.userAgent.slice(0, maxUserAgentLength),
        // The epoch read when the user was identified: whatever has ended the user's sessions since then ends this one, too.
        epoch: found.user.epoch,
        provider: origin?.provider,
        sealedIdToken: origin?.sealIdToken?.(id),
        sealedClaims: origin?.sealClaims?.(id),
      },
      times,
      maxPerUser,
    );
    for (const one of ended) {
      onSessionEnded(one.id);
      recordSessionEnd(audit, systemIn(exchange), one);
    }
    const { username } = found.user;
    return { session, username, reply: await this.reply(session, found, now) };
  }

  /** Revokes a session just created, whose tokens have not been sent. */
  async cancel(session: Pick<Session, 'id'>): Promise<void> {
    await this.#parts.sessions.revoke(session.id);
  }

  /** The response with new tokens of a session; `now` is the time of the session store's clock, epoch ms. */
  async reply(session: Session, found: UserWithSets, now: number): Promise<LoginReply> {
    const { tokens, cookies, cookie, holdings } = this.#parts;
    const scopes = scopesOf(session, found, holdings);
    const { token, expiresInSeconds } = await tokens.sign({
      userId: found.user.id,
      sessionId: session.id,
      scopes,
      sessionExpires: session.expires,
    });
    // Never 0, which would clear the cookie of a session that is still live.
    const maxAgeSeconds = Math.max(1, Math.floor((session.expires - now) / 1000));
    const value = cookies.write(session.id, session.generation);
    return {
      status: 200,
      body: {
        access_token: token,
        token_type: 'bearer',
        expires_in: expiresInSeconds,
        scope: scopes.join(' '),
      },
      headers: ['Set-Cookie', setCookie(cookie, value, maxAgeSeconds)],
    };
  }
}

/**
 * The requested scopes, sorted, without words that aren't scope-tokens (RFC 6749 §3.3), which no one can hold. If nothing else
 * was requested, the session has no scopes.
 */
function askedScopes(scope: string): string {
  const names = scope.split(/\s+/).filter((name) => name !== '' && parseScope(name) !== undefined);
  return [...new Set(names)].sort().join(' ');
}
