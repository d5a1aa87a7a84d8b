import type { Audit } from '../administration/audit.ts';
import type { Config } from '../config/sections/schema.ts';
import { createPasswordHasher, type PasswordHasher } from '../credentials/passwords.ts';
import { createRefreshCookies, type RefreshCookies } from '../credentials/refresh-cookie.ts';
import { createLoginThrottle, type LoginThrottle } from '../credentials/throttle.ts';
import { createEndSession, type EndSession } from '../endpoints/end-session.ts';
import { PasswordSignIn } from '../endpoints/login.ts';
import { createSignIn, type SignIn } from '../endpoints/sign-in.ts';
import { setCookie } from '../http/cookies.ts';
import type { SessionTimes } from '../stores/sessions.ts';
import type { EndpointParts } from './endpoint-parts.ts';
import { loginLimits } from './login-limits.ts';
import { sessionTimesOf } from './session-times.ts';

/** How people sign in and out, however they do it. */
export interface ComposedSignIns {
  readonly audit: Audit;
  readonly cookies: RefreshCookies;
  readonly passwords: PasswordHasher;
  readonly throttle: LoginThrottle;
  readonly times: SessionTimes;
  readonly signIn: SignIn;
  readonly login: PasswordSignIn;
  readonly endSession: EndSession;
  /** Headers by which a browser forgets its session, names and values in turn. */
  readonly forgetting: readonly string[];
}

/** Builds what all ways to sign in share. */
export function composeSignIns(config: Config, parts: EndpointParts): ComposedSignIns {
  const { stores, cookie, cookieSecrets, web, onCredentialEnded } = parts;
  const { records, sessions, attempts } = stores;
  const { audit } = parts.auditTrail;
  const cookies = createRefreshCookies({
    secrets: cookieSecrets,
    tenant: config.tenant,
    name: cookie.name,
  });
  const passwords = createPasswordHasher({
    ...config.passwords,
    memoryBytes: config.passwords.memory,
    storedHashes: () => records.passwordHashKinds(),
  });
  const times = sessionTimesOf(config);
  const ends = { sessions, records, audit, onSessionEnded: onCredentialEnded };
  const maxPerUser = config.sessions.max_per_user;
  const signIn = createSignIn({ ...parts, ...ends, times, cookies, maxPerUser });
  const throttle = createLoginThrottle(attempts, loginLimits(config));
  return {
    audit,
    cookies,
    passwords,
    throttle,
    times,
    signIn,
    login: new PasswordSignIn({ ...parts, records, passwords, throttle, signIn, audit }),
    endSession: createEndSession(ends),
    forgetting: [cookie, ...(web === null ? [] : [web.area.cookie])].flatMap((each) => [
      'Set-Cookie',
      setCookie(each, '', 0),
    ]),
  };
}
