import { hash, timingSafeEqual } from 'node:crypto';
import { uuidv7 } from 'uuidv7';
import { z } from 'zod';
import { type Audit, auditingThrottle } from '../administration/audit.ts';
import { userEvent } from '../administration/user-events.ts';
import { type PasswordHasher, parsePassword } from '../credentials/passwords.ts';
import type { AddressThrottle } from '../credentials/throttle.ts';
import { Refusal } from '../errors.ts';
import type { Exchange } from '../http/exchange.ts';
import type { Reply } from '../http/reply.ts';
import { canonicalAccountName, parseUsername } from '../rules/account-name.ts';
import type { Records } from '../stores/records.ts';
import { administratorSetId } from '../stores/scope-set.ts';
import type { NewUser } from '../stores/user.ts';
import { newPassword, newUsername } from './account-fields.ts';
import { readTokenAlone } from './body-token.ts';
import { anonymousIn } from './caller.ts';
import type { Endpoint } from './endpoint.ts';
import { passwordProblems } from './password-rules.ts';
import { readWriteBody } from './write-body.ts';

/** The body of an activation; any string is accepted as token here, because a wrong one is 401. */
export function activationBody(minPasswordLength: number) {
  return z
    .strictObject({ token: z.string(), username: newUsername(), password: newPassword(minPasswordLength) })
    .meta({ id: 'BootstrapActivate' });
}

/** The first administrator, as a 201 shows it. */
export const activatedUser = z
  .object({ id: z.string(), username: z.string() })
  .meta({ id: 'BootstrapActivated' });

type ActivationForm = z.output<ReturnType<typeof activationBody>>;

const secret = ['token', 'password'] as const;

/** What the activation needs. */
export interface BootstrapOptions {
  readonly records: Pick<Records, 'bootstrap' | 'activate'>;
  /** The token of the configuration, unless a reset created another. */
  readonly configuredToken: string | null;
  readonly passwords: PasswordHasher;
  readonly minPasswordLength: number;
  readonly throttle: AddressThrottle;
  readonly audit: Audit;
  readonly now: () => number;
}

/** `POST /api/bootstrap/activate`: creates the first administrator, once per records store. */
export function createBootstrap(options: BootstrapOptions): Endpoint<'open'> {
  const schema = activationBody(options.minPasswordLength);
  const activation = new Activation(options);
  return {
    method: 'POST',
    path: '/api/bootstrap/activate',
    guard: 'open',
    async handle(call) {
      const { exchange, body, contentType } = call;
      const token = readTokenAlone(body, contentType);
      if (token !== undefined) await activation.assertToken(exchange, token);
      const form = await readWriteBody(call, schema, {
        secret,
        judge: ({ username, password }) => passwordProblems(password, username, 'password'),
      });
      return activation.respond(exchange, form);
    },
  };
}

/** The steps of an activation. */
class Activation {
  readonly #options: BootstrapOptions;

  constructor(options: BootstrapOptions) {
    this.#options = options;
  }

  /** A wrong token is reported before any other problem: without the token nothing more can be learned. */
  async assertToken(exchange: Exchange, token: string): Promise<void> {
    const { records, configuredToken, throttle, audit } = this.#options;
    const state = await records.bootstrap();
    if (!state.open) return;
    const counted = throttle.attempt(exchange.address);
    const attempt = await auditingThrottle(counted, audit, anonymousIn(exchange), 'activation_failed');
    const expected = state.token ?? configuredToken;
    if (expected === null || !isSame(token, expected)) {
      audit.record(anonymousIn(exchange), { event: 'activation_failed', outcome: 'failure', subject: null });
      throw new Refusal('invalid_bootstrap_token');
    }
    await attempt.giveBack();
  }

  async respond(exchange: Exchange, form: ActivationForm): Promise<Reply> {
    const { records, passwords, minPasswordLength, now } = this.#options;
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
    return this.#options.audit.withChange(anonymousIn(exchange), () => [
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
