import { Refusal } from '../../errors.ts';
import { readQuery } from '../../input/query.ts';
import type { Records } from '../../stores/records.ts';
import { type Audit, actorOf } from '../audit.ts';
import type { Endpoint } from '../endpoint.ts';
import { deleteQuery } from './api-key-schemas.ts';

/** `DELETE /api/admin/api-keys/{id}`: the key stops working at once, and what it has open ends. */
export function createApiKeyDelete(options: {
  readonly records: Pick<Records, 'deleteApiKey'>;
  readonly audit: Audit;
  readonly onKeyDeleted: (keyId: string) => void;
}): Endpoint {
  const { records, audit, onKeyDeleted } = options;
  return {
    method: 'DELETE',
    path: '/api/admin/api-keys/{id}',
    guard: { scopes: ['apikeys:write'] },
    async handle({ exchange, id, principal }) {
      const { children } = readQuery(exchange.query, deleteQuery);
      const deleted = await records.deleteApiKey(id, { children });
      if (deleted.length === 0) throw new Refusal('not_found');
      const actor = actorOf(principal);
      for (const key of deleted) {
        onKeyDeleted(key);
        audit(exchange, { event: 'api_key_deleted', outcome: 'success', actor, subject: null, key });
      }
      return { status: 204 };
    },
  };
}
