import { z } from 'zod';
import { canonicalAccountName } from '../credentials/account-name.ts';
import type { PasswordHasher } from '../credentials/passwords.ts';
import type { RecentUse } from '../credentials/recent-use.ts';
import type { LoginThrottle } from '../credentials/throttle.ts';
import { Refusal } from '../errors.ts';
import type { Exchange } from '../http/exchange.ts';
import { assertNotForeignPage, type IsKnownOrigin } from '../http/foreign-page.ts';
import { readForm } from '../input/form-body.ts';
import { actorOfSession, anonymous } from '../log/log.ts';
import type { Records } from '../stores/records.ts';
import type { User, UserWithSets } from '../stores/user.ts';
import { type Audit, auditingThrottle } from './audit.ts';
import type { Endpoint } from './endpoint.ts';
import type { SignedIn, SignIn } from './sign-in.ts';

/** `Body_Authentication-Login`, in FastAPI's order of fields. */
export const loginForm = z
  .object({
    grant_type: z
      .string()
      .regex(/^password$/)
      .optional()
      .describe('Only `password`.'),
    // A blank field is missing.
    username: z.string().meta({ minLength: 1 }),
    password: z.string().meta({ format: 'password', minLength: 1 }),
    scope: z.string().default('').describe('Space-separated; blank asks for everything the user holds.'),
    client_id: z.string().optional().describe('Accepted and reserved.'),
    client_secret: z.string().optional().describe('Accepted and reserved.').meta({ format: 'password' }),
  })
  .meta({ id: 'Body_Authentication-Login', title: 'Body_Authentication-Login' });

type LoginForm = z.output<typeof loginForm>;

/** `POST /api/login/access-token`: sign-in by password (RFC 6749 §4.3). */
export function createLogin(options: {
  readonly records: Pick<Records, 'findUserByName' | 'updateUser'>;
  readonly passwords: PasswordHasher;
  readonly throttle: LoginThrottle;
  readonly signIn: SignIn;
  readonly recentUse: RecentUse;
  readonly isKnownOrigin: IsKnownOrigin;
  readonly audit: Audit;
  readonly now: () => number;
}): Endpoint<'open'> {
  const { records, passwords, throttle, signIn, recentUse, isKnownOrigin, audit, now } = options;

  /** One response, after the same work, for unknown, disabled, over-long and wrong. */
  async function requireUser(username: string, password: string): Promise<UserWithSets> {
    const found = await records.findUserByName(canonicalAccountName(username));
    // A right password of somebody disabled takes as long as a wrong one.
    const hash = found === undefined || found.user.disabled ? null : found.user.passwordHash;
    const { ok, rehash: isDated } = await passwords.verify(hash, password);
    if (found === undefined || !ok) throw new Refusal('invalid_credentials', { cause: found?.user.id });
    return isDated ? { ...found, user: await rehash(found.user, password) } : found;
  }

  /** Brings a hash up to the cost that is configured now. */
  async function rehash(user: User, password: string): Promise<User> {
    const passwordHash = await passwords.hash(password.normalize('NFC'));
    if (user.passwordHash === null) return user;
    // Set meanwhile, the new password must not be overwritten with the old one.
    const changes = { passwordHash, ifPasswordHash: user.passwordHash };
    const changed = await records.updateUser(user.id, changes);
    return changed?.passwordHash === passwordHash ? changed : user;
  }

  /**
   * Who disables a user or sets a password ends the sessions there are. This one may be made just after, for what had
   * been true when its password was judged: so the user is looked at once more.
   */
  async function startSession(exchange: Exchange, found: UserWithSets, form: LoginForm): Promise<SignedIn> {
    const started = await signIn.start(exchange, found, 'password', form.scope);
    try {
      await assertStillGood(found.user, form);
      return started;
    } catch (error) {
      await signIn.cancel(started.session);
      throw error;
    }
  }

  /** By name, for that is never answered from memory. */
  async function assertStillGood(
    { id, passwordHash }: User,
    { username, password }: LoginForm,
  ): Promise<void> {
    const user = (await records.findUserByName(canonicalAccountName(username)))?.user;
    if (user !== undefined && user.id === id && !user.disabled) {
      if (user.passwordHash === passwordHash) return;
      if ((await passwords.verify(user.passwordHash, password)).ok) return;
    }
    throw new Refusal('invalid_credentials', { cause: user?.id });
  }

  return {
    method: 'POST',
    path: '/api/login/access-token',
    guard: 'open',
    oauth: true,
    async handle({ exchange, body }) {
      assertNotForeignPage(exchange.head, isKnownOrigin);
      const form = readForm(body, exchange.head.contentType, loginForm, {
        secret: ['password', 'client_secret'],
      });
      const counted = throttle.attempt(canonicalAccountName(form.username), exchange.address);
      const attempt = await auditingThrottle(counted, audit, exchange, 'login_failed');
      let signedIn: SignedIn;
      try {
        const found = await requireUser(form.username, form.password);
        signedIn = await startSession(exchange, found, form);
      } catch (error) {
        if (!(error instanceof Refusal && error.code === 'invalid_credentials')) {
          // It was never judged: a full queue or a store that is away costs nobody a try.
          await attempt.giveBack();
          throw error;
        }
        const subject = typeof error.options.cause === 'string' ? error.options.cause : null;
        audit(exchange, { event: 'login_failed', outcome: 'failure', actor: anonymous, subject });
        throw new Refusal('invalid_credentials');
      }
      await attempt.giveBack();
      const { session, reply } = signedIn;
      recentUse.noteLogin(session.userId, now());
      audit(exchange, {
        event: 'login_succeeded',
        outcome: 'success',
        actor: actorOfSession(session.userId, session.id),
        subject: session.userId,
        session: session.id,
      });
      return reply;
    },
  };
}
