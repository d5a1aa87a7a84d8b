import type { EndpointDefinition, Guard } from '../endpoint.ts';
import type { EndpointParts } from '../endpoint-parts.ts';
import { describeList, type ListSpec, listDescription } from './list-spec.ts';

/** Defines `GET <list>filters`, which describes a list's filters and sort fields. */
export function defineFilters<G extends Guard>(
  id: EndpointDefinition['id'],
  list: { readonly path: string; readonly guard: G },
  specOf: (parts: EndpointParts) => ListSpec<string>,
): EndpointDefinition<G> {
  return {
    id,
    method: 'GET',
    path: `${list.path}filters`,
    guard: list.guard,
    summary: 'Describes how the list can be filtered and sorted',
    description: 'For a front end that builds its filters from it: fields, operators and values.',
    success: {
      status: 200,
      description: 'Filters, sort fields and page sizes.',
      schema: () => listDescription,
    },
    refusals: [],

    create(parts) {
      const body = describeList(specOf(parts));
      return async () => ({ status: 200, body });
    },
  };
}
