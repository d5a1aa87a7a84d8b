import { hash, timingSafeEqual } from 'node:crypto';
import { uuidv7 } from 'uuidv7';
import { z } from 'zod';
import { canonicalAccountName, parseUsername } from '../credentials/account-name.ts';
import { type PasswordHasher, parsePassword } from '../credentials/passwords.ts';
import type { BootstrapThrottle } from '../credentials/throttle.ts';
import { Refusal, ValidationError } from '../errors.ts';
import type { Exchange } from '../http/exchange.ts';
import { readJson } from '../input/json-body.ts';
import { anonymous } from '../log/log.ts';
import type { Records } from '../stores/records.ts';
import { administratorSetId } from '../stores/scope-set.ts';
import type { NewUser } from '../stores/user.ts';
import { newPassword, newUsername } from './account-fields.ts';
import { type Audit, auditingThrottle } from './audit.ts';
import type { ChangeAudit } from './change-audit.ts';
import type { Endpoint } from './endpoint.ts';

/** The body of an activation; the token is any string, for what is wrong with it is 401. */
export function activationBody(minPasswordLength: number) {
  return z
    .strictObject({ token: z.string(), username: newUsername(), password: newPassword(minPasswordLength) })
    .meta({ id: 'BootstrapActivate' });
}

/** The first administrator, as a 201 shows it. */
export const activatedUser = z
  .object({ id: z.string(), username: z.string() })
  .meta({ id: 'BootstrapActivated' });

const secret = ['token', 'password'] as const;

/** `POST /api/bootstrap/activate`: makes the first administrator, once per records store. */
export function createBootstrap(options: {
  readonly records: Pick<Records, 'bootstrap' | 'activate'>;
  /** The token of the configuration, unless a reset made another. */
  readonly configuredToken: string | null;
  readonly passwords: PasswordHasher;
  readonly minPasswordLength: number;
  readonly throttle: BootstrapThrottle;
  readonly audit: Audit;
  readonly changeAudit: ChangeAudit;
  readonly now: () => number;
}): Endpoint<'open'> {
  const { records, configuredToken, passwords, throttle, audit, changeAudit, now } = options;
  const schema = activationBody(options.minPasswordLength);

  /** A wrong token is told before anything else that may be wrong: who has none learns nothing more. */
  async function assertToken(exchange: Exchange, given: string): Promise<void> {
    const state = await records.bootstrap();
    if (!state.open) return;
    const counted = throttle.attempt(exchange.address);
    const attempt = await auditingThrottle(counted, audit, exchange, 'activation_failed');
    const expected = state.token ?? configuredToken;
    if (expected === null || !isSame(given, expected)) {
      audit(exchange, { event: 'activation_failed', outcome: 'failure', actor: anonymous, subject: null });
      throw new Refusal('invalid_bootstrap_token');
    }
    await attempt.giveBack();
  }

  return {
    method: 'POST',
    path: '/api/bootstrap/activate',
    guard: 'open',
    async handle({ exchange, body }) {
      const { contentType } = exchange.head;
      const token = readTokenAlone(body, contentType);
      if (token !== undefined) await assertToken(exchange, token);
      const form = readJson(body, contentType, schema, { secret });
      if (!(await records.bootstrap()).open) throw new Refusal('already_activated');
      const username = parseUsername(form.username) as string;
      const password = parsePassword(form.password, options.minPasswordLength) as string;
      const passwordHash = await passwords.hash(password);
      // A reset may have made another token while the password was hashed.
      await assertToken(exchange, form.token);
      const user: NewUser = {
        id: uuidv7(),
        username,
        displayName: null,
        email: null,
        passwordHash,
        scopes: [],
        scopeSets: [administratorSetId],
        disabled: false,
        created: now(),
        lastLogin: null,
      };
      const written = changeAudit(exchange, () => [
        {
          event: 'user_created',
          outcome: 'success',
          actor: anonymous,
          subject: user.id,
          target: { type: 'user', id: user.id },
          changes: { scope_sets: { added: user.scopeSets, removed: [] } },
        },
      ]);
      await records.activate(user, canonicalAccountName(username), written);
      return { status: 201, body: { id: user.id, username } };
    },
  };
}

/** The token of a body whose other fields may be wrong; undefined when it has none to judge. */
function readTokenAlone(body: Uint8Array, contentType: string): string | undefined {
  try {
    return readJson(body, contentType, z.object({ token: z.string() }), { secret }).token;
  } catch (error) {
    if (error instanceof ValidationError) return undefined;
    throw error;
  }
}

function isSame(one: string, other: string): boolean {
  return timingSafeEqual(hash('sha256', one, 'buffer'), hash('sha256', other, 'buffer'));
}
