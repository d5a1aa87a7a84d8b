import { z } from 'zod';
import { presentUser } from '../../administration/present-user.ts';
import { changeUser, createUser, removeUser, usersWrite } from '../../administration/users.ts';
import { isUserName, passwordIsName } from '../../credentials/password-rules.ts';
import { parsePassword } from '../../credentials/passwords.ts';
import { isRefusal, ValidationError, type ValidationProblem } from '../../errors.ts';
import { assertIfMatch, entityTagOf } from '../../http/if-match.ts';
import { valueError } from '../../input/pydantic-problems.ts';
import { readQuery } from '../../input/url-encoded.ts';
import { canonicalAccountName, parseUsername } from '../../rules/account-name.ts';
import type { KeysOfRemoved, UserRecord, UserRecordChanges } from '../../stores/user-records.ts';
import { callerIn } from '../caller.ts';
import type { EndpointDefinition } from '../endpoint.ts';
import type { EndpointParts } from '../endpoint-parts.ts';
import { passwordProblems, readWriteBody, scopeSetProblems } from '../write-body.ts';
import { documentedBounds, secretFields, userCreate, userPatch, userRead } from './read.ts';

type UserPatch = z.output<ReturnType<typeof userPatch>>;

const transfer = 'transfer:';

/** Schema of the query for removing a user. */
const removalQuery = z.strictObject({
  keys: z
    .string()
    .regex(/^(?:delete|keep|transfer:.+)$/)
    .default('delete')
    .describe('The keys of the user: `delete`, `keep` (without an owner), or `transfer:<user id>`.'),
});

/** `POST /api/admin/users/`: creates a user who holds no more than the calling credential. */
export const usersCreate: EndpointDefinition = {
  id: 'Users-Create',
  method: 'POST',
  path: '/api/admin/users/',
  guard: { scopes: usersWrite },
  summary: 'Creates a user',
  description: 'Who holds no more than the calling credential.',
  body: { schema: () => userCreate(documentedBounds) },
  success: { status: 201, description: 'The user.', schema: () => userRead, headers: ['ETag'] },
  refusals: ['conflict', 'overloaded'],

  create(parts) {
    const { records, catalogue, minPasswordLength } = parts;
    const schema = userCreate({ catalogue: [...catalogue].sort(), minPasswordLength });
    return async (call) => {
      const form = await readWriteBody(call, schema, {
        secret: secretFields,
        judge: async ({ kind, username, password, scope_sets }) => [
          ...(kind === 'service' && typeof password === 'string' ? [passwordOfService] : []),
          ...(await scopeSetProblems(records, scope_sets)),
          ...(await passwordProblems(password, username, 'password')),
        ],
      });
      const created = await createUser(parts, callerIn(call), {
        username: parseUsername(form.username) as string,
        displayName: form.display_name ?? null,
        email: form.email ?? null,
        passwordHash: await hashPassword(parts, form.password ?? null),
        kind: form.kind,
        scopes: form.scopes,
        scopeSets: form.scope_sets,
        disabled: form.disabled,
      });
      return { status: 201, headers: ['ETag', entityTagOf(created.user)], body: presentUser(created, parts) };
    };
  },
};

/** `PATCH /api/admin/users/{id}`: changes a user who holds no more than the calling credential, before and after the change. */
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
          // The name may have changed in the meantime.
          assertNoProblems(problemsWith(found, patch));
          assertIfMatch(exchange.head, found.user);
        },
      });
      return { status: 200, headers: ['ETag', entityTagOf(changed.user)], body: presentUser(changed, parts) };
    };
  },
};

/** `DELETE /api/admin/users/{id}`: removes a user and the user's sessions; `keys` says what happens to the user's keys. */
export const usersDelete: EndpointDefinition = {
  id: 'Users-Delete',
  method: 'DELETE',
  path: '/api/admin/users/{id}',
  guard: { scopes: usersWrite },
  summary: 'Removes a user',
  description: 'Ends the sessions; the keys are deleted, kept without an owner, or given to another user.',
  takesIfMatch: true,
  query: () => removalQuery,
  success: { status: 204, description: 'Gone.' },
  refusals: ['not_found', 'precondition_failed', 'last_administrator', 'managed'],

  create(parts) {
    return async (call) => {
      const { exchange, id } = call;
      const { keys: asked } = readQuery(exchange.query, removalQuery, { plain: ['keys'] });
      const keys = keysOf(asked);
      await removeUser(parts, callerIn(call), id, keys, {
        judge({ found, newOwner }) {
          if (typeof keys === 'object') assertNewOwner(id, newOwner, asked);
          assertIfMatch(exchange.head, found.user);
        },
      }).catch(async (error: unknown) => {
        // A malformed query is reported even if there is no such user.
        if (isRefusal(error, 'not_found') && typeof keys === 'object')
          assertNewOwner(id, await parts.records.findUserRecord(keys.transferTo), asked);
        throw error;
      });
      return { status: 204 };
    };
  },
};

const passwordOfService: ValidationProblem = {
  ...valueError('a service has none'),
  loc: ['password'],
  input: null,
};

async function hashPassword<None extends null | undefined>(
  { passwords, minPasswordLength }: Pick<EndpointParts, 'passwords' | 'minPasswordLength'>,
  raw: string | None,
): Promise<string | None> {
  return typeof raw === 'string' ? passwords.hash(parsePassword(raw, minPasswordLength) as string) : raw;
}

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

function assertNoProblems(problems: readonly ValidationProblem[]): void {
  if (problems.length > 0)
    throw new ValidationError(problems.map((problem) => ({ ...problem, loc: ['body', ...problem.loc] })));
}

/** True if part of the patch can be judged only by comparison with the stored user. */
function isAboutFound({ kind, password }: Partial<UserPatch>): boolean {
  return kind !== undefined || typeof password === 'string';
}

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

function keysOf(asked: string): KeysOfRemoved {
  if (asked.startsWith(transfer)) return { transferTo: asked.slice(transfer.length) };
  return asked === 'keep' ? 'keep' : 'delete';
}

function assertNewOwner(removedId: string, newOwner: UserRecord | undefined, asked: string): void {
  if (newOwner !== undefined && !newOwner.user.disabled && newOwner.user.id !== removedId) return;
  const msg = 'Value error, no other enabled user';
  throw new ValidationError([
    { type: 'value_error', loc: ['query', 'keys'], msg, input: asked, ctx: { error: {} } },
  ]);
}
