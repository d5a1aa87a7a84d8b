import { presentScopeSet } from '../../administration/scope-set-fields.ts';
import type { Cursors } from '../../credentials/cursor.ts';
import { Refusal } from '../../errors.ts';
import { entityTagOf } from '../../http/if-match.ts';
import type { ScopeSetQuery, ScopeSetRecord, ScopeSetRecords } from '../../stores/scope-set-records.ts';
import type { Endpoint } from '../endpoint.ts';
import { createListRequests } from '../lists/list-request.ts';
import { describeList } from '../lists/list-spec.ts';
import { scopeSetListSpec } from './scope-set-schemas.ts';

const guard = { scopes: ['scopesets:read'] } as const;

/** `GET /api/admin/scope-sets/`: one page of the scope sets, the built-in one included. */
export function createScopeSetList(
  records: Pick<ScopeSetRecords, 'listScopeSets'>,
  cursors: Cursors,
  catalogue: ReadonlySet<string>,
): Endpoint {
  const readRequest = createListRequests(scopeSetListSpec([...catalogue].sort()), cursors);
  return {
    method: 'GET',
    path: '/api/admin/scope-sets',
    guard,
    async handle({ exchange }) {
      const { query, body } = readRequest(exchange.query);
      const page = await records.listScopeSets(query as ScopeSetQuery);
      const options = {
        positionOf: (set: ScopeSetRecord) => ({ value: set[query.sortBy], id: set.id }),
        present: (set: ScopeSetRecord) => presentScopeSet(set, catalogue),
      };
      return { status: 200, body: body(page, options) };
    },
  };
}

/** `GET /api/admin/scope-sets/filters`: what the list can be filtered and sorted by. */
export function createScopeSetFilters(catalogue: ReadonlySet<string>): Endpoint {
  const body = describeList(scopeSetListSpec([...catalogue].sort()));
  return {
    method: 'GET',
    path: '/api/admin/scope-sets/filters',
    guard,
    handle: async () => ({ status: 200, body }),
  };
}

/** `GET /api/admin/scope-sets/{id}`. */
export function createScopeSetRead(
  records: Pick<ScopeSetRecords, 'findScopeSet'>,
  catalogue: ReadonlySet<string>,
): Endpoint {
  return {
    method: 'GET',
    path: '/api/admin/scope-sets/{id}',
    guard,
    async handle({ id }) {
      const set = await records.findScopeSet(id);
      if (set === undefined) throw new Refusal('not_found');
      return { status: 200, headers: ['ETag', entityTagOf(set)], body: presentScopeSet(set, catalogue) };
    },
  };
}
