import { uuidv7 } from 'uuidv7';
import type { z } from 'zod';
import { createdUserEvents } from '../../administration/user-events.ts';
import { entityTagOf } from '../../http/if-match.ts';
import { canonicalAccountName, parseUsername } from '../../rules/account-name.ts';
import type { NewUserRecord } from '../../stores/user-records.ts';
import { callerIn } from '../caller.ts';
import type { EndpointDefinition } from '../endpoint.ts';
import { passwordProblems } from '../password-rules.ts';
import { scopeSetProblems } from '../scope-set-ids.ts';
import { readWriteBody } from '../write-body.ts';
import { presentUser } from './present-user.ts';
import { assertMayChange, hashPassword, needed, passwordOfService } from './user-changes.ts';
import { documentedBounds, secretFields, userCreate, userRead } from './user-schemas.ts';

/** `POST /api/admin/users/`: a user who holds no more than the calling credential. */
export const usersCreate: EndpointDefinition = {
  id: 'Users-Create',
  method: 'POST',
  path: '/api/admin/users/',
  guard: { scopes: needed },
  summary: 'Creates a user',
  description: 'Who holds no more than the calling credential.',
  body: { schema: () => userCreate(documentedBounds) },
  success: { status: 201, description: 'The user.', schema: () => userRead, headers: ['ETag'] },
  refusals: ['conflict', 'overloaded'],

  create(parts) {
    const { records, catalogue, holdings, minPasswordLength, audit } = parts;
    const schema = userCreate({ catalogue: [...catalogue].sort(), minPasswordLength });
    return async (call) => {
      const by = callerIn(call);
      const form = await readWriteBody(call, schema, {
        secret: secretFields,
        judge: async ({ kind, username, password, scope_sets }) => [
          ...(kind === 'service' && typeof password === 'string' ? [passwordOfService] : []),
          ...(await scopeSetProblems(records, scope_sets)),
          ...(await passwordProblems(password, username, 'password')),
        ],
      });
      const record = newRecord(form, await hashPassword(parts, form.password ?? null), parts.now());
      const { scopes, scopeSets } = record.user;
      const setScopes = holdings.scopesOf(await records.findScopeSets(scopeSets));
      const created = await records.createUserRecord({
        caller: by.ref,
        decide(_, caller) {
          assertMayChange(parts, caller, null, { scopes, scopeSets, setScopes });
          return record;
        },
        audit: audit.withChange(by, createdUserEvents),
      });
      return {
        status: 201,
        headers: ['ETag', entityTagOf(created.user)],
        body: presentUser(created, parts),
      };
    };
  },
};

function newRecord(
  form: z.output<ReturnType<typeof userCreate>>,
  passwordHash: string | null,
  created: number,
): NewUserRecord {
  const username = parseUsername(form.username) as string;
  const user = {
    id: uuidv7(),
    username,
    displayName: form.display_name ?? null,
    email: form.email ?? null,
    passwordHash,
    kind: form.kind,
    scopes: form.scopes.toSorted(),
    scopeSets: form.scope_sets.toSorted(),
    disabled: form.disabled,
    created,
    lastLogin: null,
  };
  return { user, canonicalName: canonicalAccountName(username) };
}
