import { z } from 'zod';
import { presentIdentities } from '../../administration/present-user.ts';
import { linkIdentity, unlinkIdentity } from '../../administration/user-identities.ts';
import { usersWrite } from '../../administration/users.ts';
import { Refusal, type ValidationProblem } from '../../errors.ts';
import { maxSubjectLength } from '../../identity-providers/id-token.ts';
import { valueError } from '../../input/pydantic-problems.ts';
import { codePointString, withoutControlCharacters } from '../../input/pydantic-types.ts';
import { noParameters, readQuery } from '../../input/query.ts';
import { callerIn } from '../caller.ts';
import type { EndpointDefinition } from '../endpoint.ts';
import { readWriteBody } from '../write-body.ts';
import { identityList, identityRead } from './user-schemas.ts';

const subjectText = () =>
  codePointString({ min: 1, max: maxSubjectLength, pattern: withoutControlCharacters }).describe(
    'The `sub` of the user at the provider, exactly.',
  );

/** A new identity; `providers` are the names of the configured ones (empty: any, for the OpenAPI document). */
function identityLink(providers: readonly string[]) {
  const [first, ...others] = providers;
  const provider = first === undefined ? z.string() : z.enum([first, ...others]);
  return z
    .strictObject({
      provider: provider.describe('The name of a configured identity provider.'),
      subject: subjectText().refine((subject) => subject.trim() !== '', 'must not be blank'),
    })
    .meta({ id: 'IdentityLink' });
}

/** The identity to unlink. */
const identityQuery = z.strictObject({ provider: z.string(), subject: z.string() });

/** `GET /api/admin/users/{id}/identities`: in the order in which they were linked. */
export const usersIdentities: EndpointDefinition = {
  id: 'Users-Identities',
  method: 'GET',
  path: '/api/admin/users/{id}/identities',
  guard: { scopes: ['users:read'] },
  summary: 'Lists the identities of a user',
  description: 'All of them, in the order in which they were linked.',
  query: () => noParameters,
  success: { status: 200, description: 'The identities.', schema: () => identityList },
  refusals: ['not_found'],

  create({ records, providerOf }) {
    return async ({ exchange, id }) => {
      readQuery(exchange.query, noParameters);
      const found = await records.findUserRecord(id);
      if (found === undefined) throw new Refusal('not_found');
      return { status: 200, body: presentIdentities(found, providerOf) };
    };
  },
};

/** `POST /api/admin/users/{id}/identities`: sign-ins by that identity are this user's from now on. */
export const usersLink: EndpointDefinition = {
  id: 'Users-Link',
  method: 'POST',
  path: '/api/admin/users/{id}/identities',
  guard: { scopes: usersWrite },
  summary: 'Links an identity to a user',
  description:
    'Sign-ins by it are this user’s. Refused for a service, and for a user who effectively holds more than the calling credential.',
  body: { schema: () => identityLink([]) },
  success: { status: 201, description: 'The identity.', schema: () => identityRead },
  refusals: ['not_found', 'managed', 'conflict'],

  create(parts) {
    const { records, issuers } = parts;
    const schema = identityLink([...issuers.keys()]);

    async function judgeProvider(id: string, provider: string): Promise<readonly ValidationProblem[]> {
      const problem = (message: string) => [{ ...valueError(message), loc: ['provider'], input: provider }];
      if (!issuers.has(provider)) return problem('no provider is configured');
      const found = await records.findUserRecord(id);
      return found?.user.kind === 'service' ? problem("a service can't sign in") : [];
    }

    return async (call) => {
      const { id } = call;
      const { provider, subject } = await readWriteBody(call, schema, {
        judge: async (fields) => (fields.provider === undefined ? [] : judgeProvider(id, fields.provider)),
      });
      const issuer = issuers.get(provider)!;
      await linkIdentity(parts, callerIn(call), id, { provider, issuer, subject });
      return { status: 201, body: { provider, subject } };
    };
  },
};

/** `DELETE /api/admin/users/{id}/identities?provider=&subject=`: a way in is gone, and so are the user's sessions. */
export const usersUnlink: EndpointDefinition = {
  id: 'Users-Unlink',
  method: 'DELETE',
  path: '/api/admin/users/{id}/identities',
  guard: { scopes: usersWrite },
  summary: 'Unlinks an identity from a user',
  description: 'Ends the sessions of the user.',
  query: () => identityQuery,
  success: { status: 204, description: 'It signs in as this user no longer.' },
  refusals: ['not_found', 'managed', 'last_administrator'],

  create(parts) {
    const { issuers } = parts;
    return async (call) => {
      const { provider, subject } = readQuery(call.exchange.query, identityQuery);
      const issuer = issuers.get(provider);
      if (issuer === undefined) throw new Refusal('not_found');
      await unlinkIdentity(parts, callerIn(call), call.id, { provider, issuer, subject });
      return { status: 204 };
    };
  },
};
