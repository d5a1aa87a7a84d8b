import { hash, timingSafeEqual } from 'node:crypto';
import { uuidv7 } from 'uuidv7';
import { z } from 'zod';
import { auditingThrottle } from '../administration/audit.ts';
import { userEvent } from '../administration/user-events.ts';
import { parsePassword } from '../credentials/passwords.ts';
import { Refusal } from '../errors.ts';
import type { Exchange } from '../http/exchange.ts';
import type { Reply } from '../http/reply.ts';
import { canonicalAccountName, parseUsername } from '../rules/account-name.ts';
import { administratorSetId } from '../stores/scope-set.ts';
import type { NewUser } from '../stores/user.ts';
import { newPassword, newUsername } from './account-fields.ts';
import { anonymousIn } from './caller.ts';
import type { EndpointDefinition } from './endpoint.ts';
import type { EndpointParts } from './endpoint-parts.ts';
import { passwordProblems, readTokenAlone, readWriteBody } from './write-body.ts';

/** Body of an activation; any string is accepted as token here, because a wrong token is 401. */
function activationBody(minPasswordLength: number) {
  return z
    .strictObject({ token: z.string(), username: newUsername(), password: newPassword(minPasswordLength) })
    .meta({ id: 'BootstrapActivate' });
}

const activatedUser = z.object({ id: z.string(), username: z.string() }).meta({ id: 'BootstrapActivated' });

type ActivationForm = z.output<ReturnType<typeof activationBody>>;

const secret = ['token', 'password'] as const;

/** `POST /api/bootstrap/activate`: creates the first administrator, once per records store. */
export const bootstrap: EndpointDefinition<'open'> = {
  id: 'Bootstrap-Activate',
  method: 'POST',
  path: '/api/bootstrap/activate',
  guard: 'open',
  summary: 'Makes the first administrator',
  description: 'Once per records store. Wrong tokens are counted per address.',
  // The minimum length is configured; everywhere a password must not be blank.
  body: { schema: () => activationBody(1) },
  success: { status: 201, description: 'The administrator.', schema: () => activatedUser },
  refusals: [
    'invalid_bootstrap_token',
    'already_activated',
    'conflict',
    'too_many_attempts',
    'overloaded',
    'store_unavailable',
  ],

  create(parts) {
    const schema = activationBody(parts.minPasswordLength);
    const activation = new Activation(parts);
    return async (call) => {
      const { exchange, body, contentType } = call;
      const token = readTokenAlone(body, contentType);
      if (token !== undefined) await activation.assertToken(exchange, token);
      const form = await readWriteBody(call, schema, {
        secret,
        judge: ({ username, password }) => passwordProblems(password, username, 'password'),
      });
      return activation.respond(exchange, form);
    };
  },
};

/** Steps of an activation. */
class Activation {
  readonly #parts: EndpointParts;

  constructor(parts: EndpointParts) {
    this.#parts = parts;
  }

  /** Refuses a wrong token before any other problem: without the token nothing more can be learned. */
  async assertToken(exchange: Exchange, token: string): Promise<void> {
    const { records, bootstrapToken, tokenThrottles, audit } = this.#parts;
    const state = await records.bootstrap();
    if (!state.open) return;
    const counted = tokenThrottles.bootstrap.attempt(exchange.address);
    const attempt = await auditingThrottle(counted, audit, anonymousIn(exchange), 'activation_failed');
    const expected = state.token ?? bootstrapToken;
    if (expected === null || !isSame(token, expected)) {
      audit.record(anonymousIn(exchange), { event: 'activation_failed', outcome: 'failure', subject: null });
      throw new Refusal('invalid_bootstrap_token');
    }
    await attempt.giveBack();
  }

  async respond(exchange: Exchange, form: ActivationForm): Promise<Reply> {
    const { records, passwords, minPasswordLength, now } = this.#parts;
    if (!(await records.bootstrap()).open) throw new Refusal('already_activated');
    const username = parseUsername(form.username) as string;
    const password = parsePassword(form.password, minPasswordLength) as string;
    const passwordHash = await passwords.hash(password);
    // A reset may have created another token while the password was hashed.
    await this.assertToken(exchange, form.token);
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
    await records.activate(user, canonicalAccountName(username), this.#creationOf(user, exchange));
    return { status: 201, body: { id: user.id, username } };
  }

  #creationOf(user: NewUser, exchange: Exchange) {
    return this.#parts.audit.withChange(anonymousIn(exchange), () => [
      {
        ...userEvent('user_created', { user }),
        changes: { scope_sets: { added: user.scopeSets, removed: [] } },
      },
    ]);
  }
}

function isSame(one: string, other: string): boolean {
  return timingSafeEqual(hash('sha256', one, 'buffer'), hash('sha256', other, 'buffer'));
}
