import type { JSONWebKeySet } from 'jose';
import type { UseCaseParts } from '../administration/use-case.ts';
import type { AccessTokens } from '../credentials/access-token.ts';
import type { Cursors } from '../credentials/cursor.ts';
import type { PasswordHasher } from '../credentials/passwords.ts';
import type { RefreshCookies } from '../credentials/refresh-cookie.ts';
import type { AddressThrottle, LoginThrottle } from '../credentials/throttle.ts';
import type { CookieAttributes } from '../http/cookies.ts';
import type { IsKnownOrigin } from '../http/foreign-page.ts';
import type { Records } from '../stores/records.ts';
import type { Sessions, SessionTimes } from '../stores/sessions.ts';
import type { PasswordSignIn } from './password-sign-in.ts';
import type { SignIn } from './sign-in.ts';

/** Outcome of presenting a refresh cookie, unless a store is unavailable. */
export type RefreshOutcome = 'current' | 'rotated' | 'reused' | 'refused';

/** Dependencies of the API's endpoints under one configuration; each endpoint takes those that it uses. */
export interface EndpointParts extends UseCaseParts {
  readonly records: Records;
  readonly sessions: Sessions;
  readonly times: SessionTimes;
  readonly tokens: Pick<AccessTokens, 'jwks'>;
  readonly assertions: { readonly published: () => Promise<JSONWebKeySet> };
  /** The refresh cookie. */
  readonly cookie: CookieAttributes;
  readonly cookies: RefreshCookies;
  /** Headers by which a browser forgets its session, names and values in turn. */
  readonly forgetting: readonly string[];
  readonly cursors: Cursors;
  readonly passwords: PasswordHasher;
  readonly minPasswordLength: number;
  readonly login: PasswordSignIn;
  readonly signIn: SignIn;
  readonly throttle: LoginThrottle;
  /** Throttles of the tokens that replace a credential: of activation and of invitations. */
  readonly tokenThrottles: { readonly bootstrap: AddressThrottle; readonly invitation: AddressThrottle };
  /** The token of the first administrator, unless a reset created another; null: none is configured. */
  readonly bootstrapToken: string | null;
  /** Prefix of API keys. */
  readonly keyPrefix: string;
  /** The longest life of an API key, milliseconds; null: no bound. */
  readonly maxKeyLifetimeMs: number | null;
  /** The issuer of each configured identity provider, by name. */
  readonly issuers: ReadonlyMap<string, string>;
  /** The name of the provider with that issuer; null: none is configured. */
  readonly providerOf: (issuer: string) => string | null;
  readonly isKnownOrigin: IsKnownOrigin;
  /** Incremented for every refresh cookie that is judged, and every refresh without one. */
  readonly refreshes: Record<RefreshOutcome, number>;
}
