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

/** A scope of the catalogue with its description for people. */
export interface DescribedScope {
  readonly scope: string;
  readonly description: string;
  /** True for a scope of Postern's own endpoints. */
  readonly built_in: boolean;
}

/** A route on which API keys are accepted; `scopes` by method name, `read` and `write`, or by `*` for every method. */
export interface KeyRoute {
  /** Origin of its host, where `*` may stand for the first label; omitted: every host that no entry of `hosts` names. */
  readonly origin?: string;
  readonly path: string;
  readonly exact: boolean;
  readonly scopes: Readonly<Record<string, readonly string[]>>;
}

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
  /** Headers that make a browser forget its session: names and values in turn. */
  readonly forgetting: readonly string[];
  readonly cursors: Cursors;
  readonly passwords: PasswordHasher;
  readonly minPasswordLength: number;
  readonly login: PasswordSignIn;
  readonly signIn: SignIn;
  readonly throttle: LoginThrottle;
  /** Throttles of attempts with the bootstrap token and with invitation tokens. */
  readonly tokenThrottles: { readonly bootstrap: AddressThrottle; readonly invitation: AddressThrottle };
  /** The configured token for creating the first administrator, unless a reset has created another; null: none is configured. */
  readonly bootstrapToken: string | null;
  /** Prefix of API keys. */
  readonly keyPrefix: string;
  /** The catalogue, sorted by scope. */
  readonly describedScopes: readonly DescribedScope[];
  /** Routes that accept keys, in the order of the configuration. */
  readonly keyRoutes: readonly KeyRoute[];
  /** Maximum lifetime of an API key, ms; null: no bound. */
  readonly maxKeyLifetimeMs: number | null;
  /** The issuer of each configured identity provider, by name. */
  readonly issuers: ReadonlyMap<string, string>;
  /** The name of the configured provider with that issuer; null if there is none. */
  readonly providerOf: (issuer: string) => string | null;
  readonly isKnownOrigin: IsKnownOrigin;
  /** Number of refreshes by outcome; a refresh without a cookie counts as `refused`. */
  readonly refreshes: Record<RefreshOutcome, number>;
}
