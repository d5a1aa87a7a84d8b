import { hash, timingSafeEqual } from 'node:crypto';
import { uuidv7 } from 'uuidv7';
import type { PasswordHasher } from '../credentials/passwords.ts';
import type { AddressThrottle } from '../credentials/throttle.ts';
import { Refusal } from '../errors.ts';
import { canonicalAccountName } from '../rules/account-name.ts';
import { administratorSetId } from '../stores/scope-set.ts';
import type { NewUser } from '../stores/user.ts';
import { auditingThrottle } from './audit.ts';
import type { Author } from './caller.ts';
import type { PartsWith } from './use-case.ts';
import { userEvent } from './user-events.ts';

/** Dependencies of an activation. */
export type ActivationParts = PartsWith<'bootstrap' | 'activate'> & {
  readonly passwords: Pick<PasswordHasher, 'hash'>;
  readonly tokenThrottles: { readonly bootstrap: AddressThrottle };
  /** The configured token for creating the first administrator, unless a reset has created another; null: none is configured. */
  readonly bootstrapToken: string | null;
};

/**
 * Refuses a wrong token, unless there is an administrator already. Called before any other problem is reported, because without
 * the token nothing more may be learned. Rejects with `invalid_bootstrap_token`, `too_many_attempts`.
 */
export async function assertBootstrapToken(
  { records, bootstrapToken, tokenThrottles, audit }: ActivationParts,
  by: Author,
  token: string,
  address: string,
): Promise<void> {
  const state = await records.bootstrap();
  if (!state.open) return;
  const counted = tokenThrottles.bootstrap.attempt(address);
  const attempt = await auditingThrottle(counted, audit, by, 'activation_failed');
  const expected = state.token ?? bootstrapToken;
  if (expected === null || !isSame(token, expected)) {
    audit.record(by, { event: 'activation_failed', outcome: 'failure', subject: null });
    throw new Refusal('invalid_bootstrap_token');
  }
  await attempt.giveBack();
}

/**
 * Creates the first administrator. Rejects as {@link assertBootstrapToken} does, and with `already_activated`, `conflict`,
 * `overloaded`.
 */
export async function activate(
  parts: ActivationParts,
  by: Author,
  { username, password }: { readonly username: string; readonly password: string },
  assertToken: () => Promise<void>,
): Promise<NewUser> {
  const { records, passwords, audit, now } = parts;
  if (!(await records.bootstrap()).open) throw new Refusal('already_activated');
  const passwordHash = await passwords.hash(password);
  // A reset may have created another token while the password was hashed.
  await assertToken();
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
  const changes = { scope_sets: { added: user.scopeSets, removed: [] } };
  await records.activate(
    user,
    canonicalAccountName(username),
    audit.withChange(by, () => [{ ...userEvent('user_created', { user }), changes }]),
  );
  return user;
}

function isSame(one: string, other: string): boolean {
  return timingSafeEqual(hash('sha256', one, 'buffer'), hash('sha256', other, 'buffer'));
}
