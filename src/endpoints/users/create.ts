import { presentUser } from '../../administration/present-user.ts';
import { createUser, usersWrite } from '../../administration/users.ts';
import { entityTagOf } from '../../http/if-match.ts';
import { parseUsername } from '../../rules/account-name.ts';
import { callerIn } from '../caller.ts';
import type { EndpointDefinition } from '../endpoint.ts';
import { passwordProblems, readWriteBody, scopeSetProblems } from '../write-body.ts';
import { hashPassword, passwordOfService } from './user-changes.ts';
import { documentedBounds, secretFields, userCreate, userRead } from './user-schemas.ts';

/** `POST /api/admin/users/`: a user who holds no more than the calling credential. */
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
      return {
        status: 201,
        headers: ['ETag', entityTagOf(created.user)],
        body: presentUser(created, parts),
      };
    };
  },
};
