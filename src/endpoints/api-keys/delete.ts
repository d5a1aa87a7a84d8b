import { keyEvent } from '../../administration/api-key-events.ts';
import { Refusal } from '../../errors.ts';
import { assertIfMatch } from '../../http/if-match.ts';
import { readQuery } from '../../input/query.ts';
import type { RemovedApiKey } from '../../stores/api-key.ts';
import { callerIn } from '../caller.ts';
import type { EndpointDefinition } from '../endpoint.ts';
import { deleteQuery } from './api-key-schemas.ts';

/** `DELETE /api/admin/api-keys/{id}`: the key stops working at once, and what it has open ends. */
export const apiKeysDelete: EndpointDefinition = {
  id: 'ApiKeys-Delete',
  method: 'DELETE',
  path: '/api/admin/api-keys/{id}',
  guard: { scopes: ['apikeys:write'] },
  summary: 'Deletes a key',
  description: 'On every replica; keys minted with it live on unless `children` says otherwise.',
  takesIfMatch: true,
  query: () => deleteQuery,
  success: { status: 204, description: 'Gone: it stops working at once, and what it has open ends.' },
  refusals: ['not_found', 'precondition_failed'],

  create({ records, audit, onCredentialEnded }) {
    return async (call) => {
      const { exchange, id } = call;
      const { children } = readQuery(exchange.query, deleteQuery);
      const deleted = await records.deleteApiKey(
        id,
        { children, judge: (found) => assertIfMatch(exchange.head, found) },
        audit.withChange(callerIn(call), (keys: readonly RemovedApiKey[]) =>
          keys.map((key) => keyEvent('api_key_deleted', key, null)),
        ),
      );
      if (deleted.length === 0) throw new Refusal('not_found');
      for (const key of deleted) onCredentialEnded(key);
      return { status: 204 };
    };
  },
};
