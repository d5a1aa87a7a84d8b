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

/** Response to every sign-in and refresh (RFC 6749 §5.1); the refresh token is in the cookie. */
export const loginResponse = z
  .object({
    access_token: z.string(),
    token_type: z.literal('bearer'),
    expires_in: z.int().nonnegative().describe('Seconds.'),
    scope: z.string().describe('What the token may do: sorted, one space between; empty: nothing.'),
  })
  .meta({ id: 'LoginResponse' });

/** The 200 `LoginResponse`. */
export type LoginReply = Reply & { readonly body: z.output<typeof loginResponse> };

/** Facts that a session keeps of the identity provider that it began at. */
export interface SignInOrigin {
  readonly provider: ProviderIdentity;
  /** Seals the ID token (credentials/sealed-id-token.ts); absent: it isn't kept. */
  readonly sealIdToken?: ((sessionId: string) => string | null) | undefined;
}

/** A new session and the response that hands it over. */
export interface SignedIn {
  readonly session: Session;
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

/** The last step of every sign-in and refresh: a session's tokens. */
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
        // As it was read with what the caller proved: whatever has ended the user's sessions since ends this one, too.
        epoch: found.user.epoch,
        provider: origin?.provider,
        sealedIdToken: origin?.sealIdToken?.(id),
      },
      times,
      maxPerUser,
    );
    for (const one of ended) {
      onSessionEnded(one.id);
      recordSessionEnd(audit, systemIn(exchange), one);
    }
    return { session, reply: await this.reply(session, found, now) };
  }

  /** Revokes a session just created, whose tokens have not been sent. */
  async cancel(session: Pick<Session, 'id'>): Promise<void> {
    await this.#parts.sessions.revoke(session.id);
  }

  /** The tokens of a session; `now` is the store's clock, epoch ms. */
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
 * Drops what isn't a scope-token (RFC 6749 §3.3), which no one can hold. A request that consists of nothing else is one
 * for no scopes.
 */
function askedScopes(scope: string): string {
  const names = scope.split(/\s+/).filter((name) => name !== '' && parseScope(name) !== undefined);
  return [...new Set(names)].sort().join(' ');
}
