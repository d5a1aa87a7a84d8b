import { Refusal } from '../../errors.ts';
import { assertIfMatch } from '../../http/if-match.ts';
import { readQuery } from '../../input/query.ts';
import type { RemovedApiKey } from '../../stores/api-key.ts';
import type { Records } from '../../stores/records.ts';
import { actorOf } from '../audit.ts';
import type { ChangeAudit } from '../change-audit.ts';
import type { Endpoint } from '../endpoint.ts';
import { keyEntry } from './api-key-events.ts';
import { deleteQuery } from './api-key-schemas.ts';

/** `DELETE /api/admin/api-keys/{id}`: the key stops working at once, and what it has open ends. */
export function createApiKeyDelete(options: {
  readonly records: Pick<Records, 'deleteApiKey'>;
  readonly changeAudit: ChangeAudit;
  readonly onKeyDeleted: (keyId: string) => void;
}): Endpoint {
  const { records, changeAudit, onKeyDeleted } = options;
  return {
    method: 'DELETE',
    path: '/api/admin/api-keys/{id}',
    guard: { scopes: ['apikeys:write'] },
    async handle({ exchange, id, principal }) {
      const { children } = readQuery(exchange.query, deleteQuery);
      const actor = actorOf(principal);
      const audit = changeAudit(exchange, (keys: readonly RemovedApiKey[]) =>
        keys.map((key) => keyEntry('api_key_deleted', actor, key, null)),
      );
      const deleted = await records.deleteApiKey(
        id,
        { children, judge: (found) => assertIfMatch(exchange.head, found) },
        audit,
      );
      if (deleted.length === 0) throw new Refusal('not_found');
      for (const key of deleted) onKeyDeleted(key);
      return { status: 204 };
    },
  };
}
