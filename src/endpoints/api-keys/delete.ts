import { keysWrite, revokeKey } from '../../administration/api-keys.ts';
import { assertIfMatch } from '../../http/if-match.ts';
import { readQuery } from '../../input/query.ts';
import type { ListedApiKey } from '../../stores/api-key.ts';
import { callerIn } from '../caller.ts';
import type { EndpointDefinition } from '../endpoint.ts';
import { deleteQuery } from './api-key-schemas.ts';

/** `DELETE /api/admin/api-keys/{id}`: the key stops working at once, and what it has open ends. */
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
