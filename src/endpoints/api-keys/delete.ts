import { keyEvent } from '../../administration/api-key-events.ts';
import type { Audit } from '../../administration/audit.ts';
import { Refusal } from '../../errors.ts';
import { assertIfMatch } from '../../http/if-match.ts';
import { readQuery } from '../../input/query.ts';
import type { RemovedApiKey } from '../../stores/api-key.ts';
import type { Records } from '../../stores/records.ts';
import { callerIn } from '../caller.ts';
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
    async handle(call) {
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
      for (const key of deleted) onKeyDeleted(key);
      return { status: 204 };
    },
  };
}
