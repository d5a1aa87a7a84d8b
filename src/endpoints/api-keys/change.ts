import { z } from 'zod';
import { apiKeyWriteCreate, presentApiKey } from '../../administration/api-key-fields.ts';
import {
  type KeyOwner,
  keysWrite,
  mintKey,
  revokeKey,
  usersKeysWrite,
} from '../../administration/api-keys.ts';
import { Refusal } from '../../errors.ts';
import { assertIfMatch, entityTagOf } from '../../http/if-match.ts';
import type { Reply } from '../../http/reply.ts';
import { readJudgedJson } from '../../input/json-body.ts';
import { booleanText } from '../../input/pydantic-types.ts';
import { readQuery } from '../../input/url-encoded.ts';
import type { ListedApiKey } from '../../stores/api-key.ts';
import { callerIn } from '../caller.ts';
import type { Call, EndpointDefinition } from '../endpoint.ts';
import type { EndpointParts } from '../endpoint-parts.ts';
import { everyProblem, scopeSetProblems } from '../write-body.ts';
import { apiKeyReadCreate, hydrateQuery, mintQuery } from './read.ts';

const deleteQuery = z.strictObject({
  children: booleanText().prefault(false).describe('Also deletes the keys minted with it.'),
});

const minting = {
  body: {
    schema: () => apiKeyWriteCreate({ catalogue: [], maxLifetimeMs: null, now: Date.now }),
  },
  success: {
    status: 201,
    description: 'The key, shown this once.',
    schema: () => apiKeyReadCreate,
    headers: ['ETag'],
  },
} as const;

/** `POST /api/admin/api-keys/`: mints a key, within what the calling credential holds. */
export const apiKeysCreate: EndpointDefinition = {
  id: 'ApiKeys-Create',
  method: 'POST',
  path: '/api/admin/api-keys/',
  guard: { scopes: keysWrite },
  summary: 'Mints a key',
  description:
    'Nobody mints beyond what their own credential holds, and a key minted with a key ends no later than it.',
  query: () => hydrateQuery,
  ...minting,
  refusals: ['expiry_exceeds_caller'],

  create(parts) {
    const respond = createResponse(parts);
    return (call) => respond(call, { id: call.principal.userId, mustHold: false });
  },
};

/** `POST /api/admin/users/{id}/api-keys`: mints a key for that user, within what caller and user both hold. */
export const usersCreateKey: EndpointDefinition = {
  id: 'Users-CreateKey',
  method: 'POST',
  path: '/api/admin/users/{id}/api-keys',
  guard: { scopes: usersKeysWrite },
  summary: 'Mints a key of a user',
  description:
    'Within what caller and user both hold; a key minted with a key ends no later than it. Refused for a user who effectively holds more than the calling credential.',
  query: () => mintQuery,
  ...minting,
  refusals: ['not_found', 'expiry_exceeds_caller', 'conflict'],

  create(parts) {
    const respond = createResponse(parts);
    return (call) => respond(call, { id: call.id, mustHold: true });
  },
};

/** `DELETE /api/admin/api-keys/{id}`: deletes a key, which stops working at once; its open requests end. */
export const apiKeysDelete: EndpointDefinition = {
  id: 'ApiKeys-Delete',
  method: 'DELETE',
  path: '/api/admin/api-keys/{id}',
  guard: { scopes: keysWrite },
  summary: 'Deletes a key',
  description: 'On every replica; keys minted with it live on unless `children` says otherwise.',
  takesIfMatch: true,
  query: () => deleteQuery,
  success: { status: 204, description: 'Gone: it stops working at once, and what it has open ends.' },
  refusals: ['not_found', 'precondition_failed'],

  create(parts) {
    return async (call) => {
      const { exchange, id } = call;
      const { children } = readQuery(exchange.query, deleteQuery);
      const judge = (found: ListedApiKey | undefined) => assertIfMatch(exchange.head, found);
      await revokeKey(parts, callerIn(call), id, { children, judge });
      return { status: 204 };
    };
  },
};

function createResponse(parts: EndpointParts): (call: Call, owner: KeyOwner) => Promise<Reply> {
  const { records, catalogue, maxKeyLifetimeMs: maxLifetimeMs, audit, now } = parts;
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
    const by = callerIn(call);
    const { listed, raw } = await mintKey(parts, by, owner, form, call.recheck).catch((error) => {
      if (error instanceof Refusal && error.status < 500 && error.status !== 404)
        audit.record(by, {
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
