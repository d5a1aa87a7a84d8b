import { auditingThrottle } from '../administration/audit.ts';
import { type KeepSignInOptions, keepSignIn } from '../administration/sessions.ts';
import type { PasswordHasher } from '../credentials/passwords.ts';
import type { LoginThrottle } from '../credentials/throttle.ts';
import { isRefusal, Refusal } from '../errors.ts';
import type { Exchange } from '../http/exchange.ts';
import { canonicalAccountName } from '../rules/account-name.ts';
import type { Records } from '../stores/records.ts';
import { admitsSession } from '../stores/session-epoch.ts';
import type { User, UserWithSets } from '../stores/user.ts';
import { anonymousIn, originOf } from './caller.ts';
import type { SignedIn, SignIn } from './sign-in.ts';

/** Fields of the sign-in form. `scope` is space-separated; blank asks for everything the user holds. */
export interface PasswordLogin {
  readonly username: string;
  readonly password: string;
  readonly scope: string;
}

/** Dependencies of {@link PasswordSignIn}. */
export interface PasswordSignInOptions extends KeepSignInOptions {
  readonly records: Pick<Records, 'findUserByName' | 'replacePasswordHash' | 'keepSignIn'>;
  readonly passwords: PasswordHasher;
  readonly throttle: LoginThrottle;
  readonly signIn: SignIn;
}

/** Sign-in by password, once the form has been read. */
export class PasswordSignIn {
  readonly #options: PasswordSignInOptions;

  constructor(options: PasswordSignInOptions) {
    this.#options = options;
  }

  /**
   * Creates a session for the user with that name and password. Rejects with `invalid_credentials`, whichever of them is wrong,
   * and with `too_many_attempts`, `overloaded`, `store_unavailable`.
   */
  async signIn(exchange: Exchange, form: PasswordLogin): Promise<SignedIn> {
    const { throttle, audit } = this.#options;
    const counted = throttle.attempt(canonicalAccountName(form.username), exchange.address);
    const attempt = await auditingThrottle(counted, audit, anonymousIn(exchange), 'login_failed');
    const signedIn = await this.#judge(exchange, form).catch(async (error: unknown) => {
      if (isRefusal(error, 'invalid_credentials')) throw this.#failed(exchange, error);
      // The password was never judged: a full queue or an unavailable store costs no attempt.
      await attempt.giveBack();
      throw error;
    });
    await attempt.giveBack();
    await keepSignIn(this.#options, originOf(exchange), signedIn);
    return signedIn;
  }

  /** Judges the password, and judges it once more if the user's sessions were ended after it was verified. */
  async #judge(exchange: Exchange, form: PasswordLogin): Promise<SignedIn> {
    const started = await this.#startSession(exchange, await this.#requireUser(form), form);
    if (started !== undefined) return started;
    const found = await this.#requireUser(form);
    const again = await this.#startSession(exchange, found, form);
    if (again === undefined) throw invalidCredentials(found.user.id);
    return again;
  }

  /** Refuses unknown and disabled users, a `service`, and overlong and wrong passwords alike, after the same work. */
  async #requireUser({ username, password }: PasswordLogin): Promise<UserWithSets> {
    const { records, passwords } = this.#options;
    const found = await records.findUserByName(canonicalAccountName(username));
    // The correct password of a user who may not sign in takes as long as a wrong one.
    const hash = found !== undefined && maySignIn(found.user) ? found.user.passwordHash : null;
    const { ok, rehash: isDated } = await passwords.verify(hash, password);
    if (found === undefined || !ok) throw invalidCredentials(found?.user.id);
    if (isDated) await this.#rehash(found.user, password);
    // The record as it was before the verification: whatever has ended the user's sessions since then ends the new one, too.
    return found;
  }

  /** Replaces a hash that was made at another cost by one at the cost that is configured now. */
  async #rehash({ id, passwordHash: verified }: User, password: string): Promise<void> {
    const { records, passwords } = this.#options;
    const passwordHash = await passwords.hash(password.normalize('NFC'));
    if (verified === null) return;
    // A password set in the meantime must not be overwritten with the old one.
    await records.replacePasswordHash(id, { from: verified, to: passwordHash });
  }

  /**
   * Starts a session. Resolves to undefined if the user's sessions were ended after the password was verified: the new session
   * has the earlier epoch, so its tokens would be refused.
   */
  async #startSession(
    exchange: Exchange,
    found: UserWithSets,
    form: PasswordLogin,
  ): Promise<SignedIn | undefined> {
    const { signIn, records } = this.#options;
    const started = await signIn.start(exchange, found, 'password', form.scope);
    try {
      // By name, which is never served from a cache.
      const current = await records.findUserByName(canonicalAccountName(form.username));
      if (current?.user.id === found.user.id && admitsSession(current.user, started.session)) return started;
    } catch (error) {
      await signIn.cancel(started.session);
      throw error;
    }
    await signIn.cancel(started.session);
    return undefined;
  }

  #failed(exchange: Exchange, { options: { cause } }: Refusal): Refusal {
    const subject = typeof cause === 'string' ? cause : null;
    this.#options.audit.record(anonymousIn(exchange), { event: 'login_failed', outcome: 'failure', subject });
    return new Refusal('invalid_credentials');
  }
}

/** Refusal of a sign-in; `userId` is for the audit event alone, undefined if the name is unknown. */
function invalidCredentials(userId: string | undefined): Refusal {
  return new Refusal('invalid_credentials', { cause: userId });
}

/** True for an enabled person. A `service` has no password: even a hash written directly into the database is ignored. */
function maySignIn({ disabled, kind }: User): boolean {
  return !disabled && kind === 'person';
}
