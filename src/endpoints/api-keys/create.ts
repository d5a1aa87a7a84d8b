import { apiKeyWriteCreate, presentApiKey } from '../../administration/api-key-fields.ts';
import type { CallerRights } from '../../administration/caller-rights.ts';
import { rightsOfUser } from '../../administration/caller-rights.ts';
import { assertHolds } from '../../administration/privilege.ts';
import type { Holdings } from '../../credentials/holdings.ts';
import { Refusal } from '../../errors.ts';
import { entityTagOf } from '../../http/if-match.ts';
import type { Reply } from '../../http/reply.ts';
import { everyProblem } from '../../input/every-problem.ts';
import { readJudgedJson } from '../../input/json-body.ts';
import { readQuery } from '../../input/query.ts';
import type { Records } from '../../stores/records.ts';
import type { UserRecord } from '../../stores/user-records.ts';
import { callerIn } from '../caller.ts';
import type { Call, EndpointDefinition } from '../endpoint.ts';
import { scopeSetProblems } from '../scope-set-ids.ts';
import { apiKeyReadCreate, hydrateQuery, mintQuery } from './api-key-schemas.ts';
import { type KeyOwner, type MintedRights, Minting, type MintingOptions } from './minting.ts';

/** What the calls that mint keys need. */
export interface ApiKeyCreateOptions extends MintingOptions {
  readonly records: MintingOptions['records'] & Pick<Records, 'findScopeSets'>;
}

const ownScopes = ['apikeys:write'] as const;
const usersScopes = ['apikeys:write', 'users:write'] as const;

/** `POST /api/admin/api-keys/`: mints a key, within what the calling credential holds. */
export const apiKeysCreate: EndpointDefinition = {
  id: 'ApiKeys-Create',
  method: 'POST',
  path: '/api/admin/api-keys/',
  guard: { scopes: ownScopes },
  summary: 'Mints a key',
  description:
    'Nobody mints beyond what their own credential holds, and a key minted with a key ends no later than it.',
  query: () => hydrateQuery,
  body: {
    schema: () => apiKeyWriteCreate({ catalogue: [], maxLifetimeMs: null, now: Date.now }),
  },
  success: {
    status: 201,
    description: 'The key, shown this once.',
    schema: () => apiKeyReadCreate,
    headers: ['ETag'],
  },
  refusals: ['expiry_exceeds_caller'],

  create(parts) {
    const respond = createResponse(parts);
    return (call) => respond(call, { id: call.principal.userId, needed: ownScopes, judge: () => {} });
  },
};

/** `POST /api/admin/users/{id}/api-keys`: mints a key of that user, within what caller and user both hold. */
export const usersCreateKey: EndpointDefinition = {
  id: 'Users-CreateKey',
  method: 'POST',
  path: '/api/admin/users/{id}/api-keys',
  guard: { scopes: usersScopes },
  summary: 'Mints a key of a user',
  description:
    'Within what caller and user both hold; a key minted with a key ends no later than it. Refused for a user who effectively holds more than the calling credential.',
  query: () => mintQuery,
  body: {
    schema: () => apiKeyWriteCreate({ catalogue: [], maxLifetimeMs: null, now: Date.now }),
  },
  success: {
    status: 201,
    description: 'The key, shown this once.',
    schema: () => apiKeyReadCreate,
    headers: ['ETag'],
  },
  refusals: ['not_found', 'expiry_exceeds_caller', 'conflict'],

  create(parts) {
    const { holdings } = parts;
    const respond = createResponse(parts);
    return (call) =>
      respond(call, {
        id: call.id,
        needed: usersScopes,
        judge: (owner, rights, minted) => assertMayOwn(owner, rights, minted, holdings),
      });
  },
};

/** No one mints for a user who effectively holds more, or mints what the user does not hold. */
function assertMayOwn(
  owner: UserRecord | undefined,
  rights: CallerRights,
  { granted, origin }: MintedRights,
  holdings: Holdings,
): void {
  if (owner === undefined) throw new Refusal('not_found');
  assertHolds(rights, holdings.mostOf(owner), usersScopes);
  assertHolds(rights, granted, usersScopes);
  assertHolds(rightsOfUser(holdings.ofUser(owner, origin)), granted, []);
}

/** Builds the response to a call that mints. */
function createResponse(options: ApiKeyCreateOptions): (call: Call, owner: KeyOwner) => Promise<Reply> {
  const { records, catalogue, maxLifetimeMs, audit, now } = options;
  const schema = apiKeyWriteCreate({ catalogue: [...catalogue].sort(), maxLifetimeMs, now });
  return async (call, owner) => {
    const { exchange, body, contentType } = call;
    const [{ hydrate }, form] = await everyProblem(
      () => readQuery(exchange.query, mintQuery),
      () =>
        readJudgedJson(body, contentType, schema, {
          judge: ({ scope_sets }) => scopeSetProblems(records, scope_sets),
        }),
    );
    const { listed, raw } = await new Minting(form, owner, options).mint(call).catch((error) => {
      if (error instanceof Refusal && error.status < 500 && error.status !== 404)
        audit.record(callerIn(call), {
          event: 'api_key_refused',
          outcome: 'failure',
          subject: owner.id,
          reason: error.code,
        });
      throw error;
    });
    const shown = presentApiKey(listed, { hydrate, now: listed.key.created, catalogue });
    return { status: 201, headers: ['ETag', entityTagOf(listed)], body: { ...shown, key: raw } };
  };
}
