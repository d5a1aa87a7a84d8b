import type { Audit } from '../../administration/audit.ts';
import type { Author } from '../../administration/caller.ts';
import { rightsOf } from '../../administration/caller-rights.ts';
import { assertHolds, type Wanted } from '../../administration/privilege.ts';
import { type PasswordHasher, parsePassword } from '../../credentials/passwords.ts';
import { Refusal, ValidationError, type ValidationProblem } from '../../errors.ts';
import { valueError } from '../../input/pydantic-problems.ts';
import type { CallerFound } from '../../stores/caller.ts';
import type { Records } from '../../stores/records.ts';
import { isUnavailable } from '../../stores/remote/breaker.ts';
import type { Sessions } from '../../stores/sessions.ts';
import type { UserRecord } from '../../stores/user-records.ts';
import type { PresentUserOptions } from './present-user.ts';

const nothing: Wanted = { scopes: [], scopeSets: [] };

/** What the call itself needs. */
export const needed = ['users:write'] as const;

/** What the end of a user's sessions needs. */
export interface SessionEndOptions {
  readonly sessions: Pick<Sessions, 'revokeAllOf'>;
  readonly audit: Audit;
  /** Ends everything that a session or key has in flight. */
  readonly onCredentialEnded: (credentialId: string) => void;
}

/** What changes of users need. */
export interface UserChangeOptions extends PresentUserOptions, SessionEndOptions {
  readonly records: Pick<
    Records,
    'findUserRecord' | 'createUserRecord' | 'changeUserRecord' | 'removeUserRecord' | 'findScopeSets'
  >;
  readonly catalogue: ReadonlySet<string>;
  readonly passwords: Pick<PasswordHasher, 'hash'>;
  readonly minPasswordLength: number;
  /** Epoch ms. */
  readonly now: () => number;
}

/** Refuses `insufficient_scope` unless the caller holds everything that the user can hold, and every right that is added. */
export function assertMayChange(
  { holdings, now }: Pick<UserChangeOptions, 'holdings' | 'now'>,
  caller: CallerFound,
  target: UserRecord | null,
  added: Wanted = nothing,
): void {
  const rights = rightsOf(caller, holdings, now());
  if (target !== null) assertHolds(rights, holdings.mostOf(target), needed);
  assertHolds(rights, added, needed);
}

/** Refuses `managed` for a user that the configuration keeps. */
export function assertUnmanaged({ user }: UserRecord): void {
  if (user.managed) throw new Refusal('managed');
}

/** Throws {@link ValidationError} if there are problems of a body's fields. */
export function assertNoProblems(problems: readonly ValidationProblem[]): void {
  if (problems.length > 0)
    throw new ValidationError(problems.map((problem) => ({ ...problem, loc: ['body', ...problem.loc] })));
}

/** The problem of a password for a service. */
export const passwordOfService: ValidationProblem = {
  ...valueError('a service has none'),
  loc: ['password'],
  input: null,
};

/** The hash of a password of a body; null and undefined stay. */
export async function hashPassword<None extends null | undefined>(
  { passwords, minPasswordLength }: UserChangeOptions,
  raw: string | None,
): Promise<string | None> {
  return typeof raw === 'string' ? passwords.hash(parsePassword(raw, minPasswordLength) as string) : raw;
}

/**
 * Removes the sessions of a user from their store, as far as it can be reached: by the epoch of the user's record, or
 * without a record, they have ended already.
 */
export async function endSessions(
  { sessions, audit, onCredentialEnded }: SessionEndOptions,
  by: Author,
  userId: string,
  exceptId?: string,
): Promise<void> {
  const ended = await sessions.revokeAllOf(userId, exceptId).catch(noneIfUnavailable);
  for (const session of ended) {
    onCredentialEnded(session);
    audit.record(by, { event: 'session_revoked', subject: userId, session });
  }
}

function noneIfUnavailable(error: unknown): readonly string[] {
  if (isUnavailable(error)) return [];
  throw error;
}
