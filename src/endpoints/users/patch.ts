import type { z } from 'zod';
import { presentUser } from '../../administration/present-user.ts';
import { changeUser, usersWrite } from '../../administration/users.ts';
import { isUserName, passwordIsName } from '../../credentials/password-rules.ts';
import { ValidationError, type ValidationProblem } from '../../errors.ts';
import { assertIfMatch, entityTagOf } from '../../http/if-match.ts';
import { valueError } from '../../input/pydantic-problems.ts';
import { canonicalAccountName, parseUsername } from '../../rules/account-name.ts';
import type { UserRecord, UserRecordChanges } from '../../stores/user-records.ts';
import { callerIn } from '../caller.ts';
import type { EndpointDefinition } from '../endpoint.ts';
import { passwordProblems, readWriteBody, scopeSetProblems } from '../write-body.ts';
import { hashPassword, passwordOfService } from './user-changes.ts';
import { documentedBounds, secretFields, userPatch, userRead } from './user-schemas.ts';

type UserPatch = z.output<ReturnType<typeof userPatch>>;

/** `PATCH /api/admin/users/{id}`: callers can't change a user who effectively holds more, or give what they don't hold. */
export const usersChange: EndpointDefinition = {
  id: 'Users-Change',
  method: 'PATCH',
  path: '/api/admin/users/{id}',
  guard: { scopes: usersWrite },
  summary: 'Changes a user',
  description:
    'At once for every token and key. Refused for a user who effectively holds more than the calling credential.',
  takesIfMatch: true,
  body: { schema: () => userPatch(documentedBounds) },
  success: { status: 200, description: 'The user as changed.', schema: () => userRead, headers: ['ETag'] },
  refusals: ['not_found', 'precondition_failed', 'conflict', 'last_administrator', 'managed', 'overloaded'],

  create(parts) {
    const { records, catalogue, minPasswordLength } = parts;
    const schema = userPatch({ catalogue: [...catalogue].sort(), minPasswordLength });
    return async (call) => {
      const { exchange, id } = call;
      const patch = await readWriteBody(call, schema, {
        secret: secretFields,
        judge: async (fields) => {
          const found = isAboutFound(fields) ? await records.findUserRecord(id) : undefined;
          return [
            ...(found === undefined ? [] : problemsWith(found, fields)),
            ...(await scopeSetProblems(records, fields.scope_sets)),
            ...(await passwordProblems(fields.password, fields.username, 'password')),
          ];
        },
      });
      const changes = changesOf(patch, await hashPassword(parts, patch.password));
      const changed = await changeUser(parts, callerIn(call), id, changes, {
        judge(found) {
          // The name may be another by now.
          assertNoProblems(problemsWith(found, patch));
          assertIfMatch(exchange.head, found.user);
        },
      });
      return { status: 200, headers: ['ETag', entityTagOf(changed.user)], body: presentUser(changed, parts) };
    };
  },
};

function changesOf(patch: UserPatch, passwordHash: string | null | undefined): UserRecordChanges {
  const username = patch.username === undefined ? undefined : (parseUsername(patch.username) as string);
  return {
    ...(username !== undefined && { name: { username, canonicalName: canonicalAccountName(username) } }),
    displayName: patch.display_name,
    email: patch.email,
    passwordHash,
    scopes: patch.scopes,
    scopeSets: patch.scope_sets,
    disabled: patch.disabled,
  };
}

/** Throws {@link ValidationError} if there are problems of a body's fields. */
function assertNoProblems(problems: readonly ValidationProblem[]): void {
  if (problems.length > 0)
    throw new ValidationError(problems.map((problem) => ({ ...problem, loc: ['body', ...problem.loc] })));
}

/** True if some of the patch can only be judged by its user. */
function isAboutFound({ kind, password }: Partial<UserPatch>): boolean {
  return kind !== undefined || typeof password === 'string';
}

/** Problems of a patch that doesn't fit its user. */
function problemsWith(
  { user }: UserRecord,
  { kind, username, password }: Partial<UserPatch>,
): readonly ValidationProblem[] {
  const problems: ValidationProblem[] = [];
  if (kind !== undefined && kind !== user.kind)
    problems.push({ ...valueError('the kind of a user never changes'), loc: ['kind'], input: kind });
  if (typeof password !== 'string') return problems;
  if (user.kind === 'service') problems.push(passwordOfService);
  else if (isUserName(password, username ?? user.username))
    problems.push({ ...valueError(passwordIsName), loc: ['password'], input: null });
  return problems;
}
