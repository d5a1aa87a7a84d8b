import type { Operation } from '../endpoints/endpoint.ts';
import { listDescription } from '../endpoints/lists/list-spec.ts';

/** The operation that describes a list; `list` is the path of the list, with its trailing slash. */
export function filtersOperation(id: Operation['id'], list: string, guard: Operation['guard']): Operation {
  return {
    id,
    summary: 'Describes how the list can be filtered and sorted',
    description: 'For a front end that builds its filters from it: fields, operators and values.',
    method: 'GET',
    path: `${list}filters`,
    guard,
    success: {
      status: 200,
      description: 'Filters, sort fields and page sizes.',
      schema: () => listDescription,
    },
    refusals: [],
  };
}
