import { z } from 'zod';
import { canonicalAccountName } from '../credentials/account-name.ts';
import type { PasswordHasher } from '../credentials/passwords.ts';
import type { RecentUse } from '../credentials/recent-use.ts';
import type { LoginThrottle } from '../credentials/throttle.ts';
import { Refusal } from '../errors.ts';
import { readForm } from '../http/form-body.ts';
import type { Records, UserWithSets } from '../stores/records.ts';
import type { Audit } from './audit.ts';
import type { Endpoint } from './endpoint.ts';
import type { SignIn } from './sign-in.ts';

/** `Body_Authentication-Login`, in FastAPI's order of fields. */
export const loginForm = z
  .object({
    grant_type: z
      .string()
      .regex(/^password$/)
      .optional()
      .describe('Only `password`.'),
    username: z.string(),
    password: z.string().meta({ format: 'password' }),
    scope: z.string().default('').describe('Space-separated; blank asks for everything the user holds.'),
    client_id: z.string().optional().describe('Accepted and reserved.'),
    client_secret: z.string().optional().describe('Accepted and reserved.').meta({ format: 'password' }),
  })
  .meta({ id: 'Body_Authentication-Login', title: 'Body_Authentication-Login' });

/** `POST /api/login/access-token`: sign-in by password (RFC 6749 §4.3). */
export function createLogin(options: {
  readonly records: Pick<Records, 'findUserByName' | 'updateUser'>;
  readonly passwords: PasswordHasher;
  readonly throttle: LoginThrottle;
  readonly signIn: SignIn;
  readonly recentUse: RecentUse;
  readonly audit: Audit;
  readonly now: () => number;
}): Endpoint {
  const { records, passwords, throttle, signIn, recentUse, audit, now } = options;

  /** One answer, after the same work, for unknown, disabled, over-long and wrong. */
  async function requireUser(username: string, password: string): Promise<UserWithSets> {
    const found = await records.findUserByName(canonicalAccountName(username));
    const { ok, rehash } = await passwords.verify(found?.user.passwordHash ?? null, password);
    if (found === undefined || !ok || found.user.disabled)
      throw new Refusal('invalid_credentials', { cause: found?.user.id });
    if (rehash)
      await records.updateUser(found.user.id, {
        passwordHash: await passwords.hash(password.normalize('NFC')),
      });
    return found;
  }

  return {
    method: 'POST',
    path: '/api/login/access-token',
    guard: 'open',
    oauth: true,
    async answer({ exchange, body }) {
      const form = readForm(body, exchange.head.contentType, loginForm, {
        secret: ['password', 'client_secret'],
      });
      const attempt = await throttle.attempt(canonicalAccountName(form.username), exchange.address);
      let found: UserWithSets;
      try {
        found = await requireUser(form.username, form.password);
      } catch (error) {
        if (!(error instanceof Refusal && error.code === 'invalid_credentials')) {
          // It was never judged: a full queue or a store that is away costs nobody a try.
          await attempt.giveBack();
          throw error;
        }
        const subject = typeof error.options.cause === 'string' ? error.options.cause : null;
        audit(exchange, { event: 'login_failed', outcome: 'failure', actor: null, subject });
        throw new Refusal('invalid_credentials');
      }
      await attempt.giveBack();
      const { session, answer } = await signIn.start(exchange, found, 'password', form.scope);
      recentUse.noteLogin(found.user.id, now());
      audit(exchange, {
        event: 'login_succeeded',
        outcome: 'success',
        actor: found.user.id,
        subject: found.user.id,
        session: session.id,
      });
      return answer;
    },
  };
}
