import type { Operation, OperationBody, OperationSuccess } from '../endpoints/endpoint.ts';
import type { RefusalCode } from '../errors.ts';
import { headerRefs, refusalResponses } from './refusals.ts';
import { componentRef, type Json, membersOf, schemaUse } from './schemas.ts';

/** Renders an operation as an OpenAPI Operation Object. */
export function describeOperation(operation: Operation): Json {
  const { id, summary, description, guard, body } = operation;
  const parameters = [
    ...pathParameters(operation),
    ...queryParameters(operation),
    ...(operation.takesIfMatch ? [ifMatch] : []),
  ];
  const scopes = typeof guard === 'object' ? guard.scopes : [];
  return {
    operationId: id,
    tags: [id.slice(0, id.indexOf('-'))],
    summary,
    description,
    security: securityOf(operation),
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && {
      requestBody: {
        required: true,
        content: bodyContent(operation.method, body),
      },
    }),
    responses: {
      [operation.success.status]: successResponse(operation.success),
      ...refusalResponses([...guardRefusals(operation), ...operation.refusals], {
        oauth: operation.oauth === true,
        scopes,
      }),
      ...((operation.query ?? body) !== undefined && body?.malformed === undefined && { 422: malformed }),
      default: { $ref: componentRef('responses', operation.oauth ? 'OAuthRefusal' : 'Refusal') },
    },
  };
}

/** The request body by media type: a merge patch has one of its own (RFC 7396 §4), besides that of any JSON. */
function bodyContent(method: string, { mediaType, schema }: OperationBody): Json {
  const use = { schema: schemaUse(schema(), 'input') };
  return {
    [mediaType ?? 'application/json']: use,
    ...(method === 'PATCH' && { 'application/merge-patch+json': use }),
  };
}

const ifMatch: Json = {
  name: 'If-Match',
  in: 'header',
  required: false,
  description: 'The `ETag` that was read; another version is refused. Absent: the last write wins.',
  schema: { type: 'string' },
};

const malformed: Json = {
  description: 'Validation Error',
  headers: headerRefs(['X-Request-Id']),
  content: { 'application/json': { schema: { $ref: componentRef('schemas', 'HTTPValidationError') } } },
};

function successResponse({ description, schema, headers = [] }: OperationSuccess): Json {
  return {
    description,
    headers: headerRefs(['X-Request-Id', ...headers]),
    ...(schema !== undefined && {
      content: { 'application/json': { schema: schemaUse(schema(), 'output') } },
    }),
  };
}

/** Accepted credentials, one per item. Where a scheme isn't OAuth's, its list names the needed roles (OpenAPI 3.1 §4.8.30). */
function securityOf({ guard, takesCookie }: Operation): Json[] {
  const cookie = takesCookie ? [{ refresh_cookie: [] }] : [];
  if (guard === 'open') return cookie;
  if (guard === 'sign_out' || guard === 'session') return [{ access_token: [] }, ...cookie];
  return [{ access_token: guard.scopes }, { api_key: guard.scopes }];
}

function guardRefusals({ guard }: Operation): readonly RefusalCode[] {
  if (guard === 'open') return [];
  const presented: RefusalCode[] = ['ambiguous_credentials', 'not_authenticated', 'invalid_api_key'];
  if (guard === 'sign_out') return [...presented, 'session_required', 'store_unavailable'];
  if (guard === 'session') return [...presented, 'invalid_token', 'session_required', 'store_unavailable'];
  const scopes: readonly RefusalCode[] = guard.scopes.length > 0 ? ['insufficient_scope'] : [];
  return [...presented, 'invalid_token', ...scopes, 'store_unavailable'];
}

function pathParameters({ path }: Operation): Json[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: name === 'provider' ? providerName : { type: 'string' },
  }));
}

/** Schema of a provider's name, as `identity_providers` in the configuration allows it. */
const providerName: Json = { type: 'string', pattern: '^[a-z0-9-]{1,32}$' };

function queryParameters({ query }: Operation): Json[] {
  if (query === undefined) return [];
  return membersOf(query()).map(({ name, required, schema: { description, ...schema } }) => ({
    name,
    in: 'query',
    required,
    ...(description !== undefined && { description }),
    schema,
  }));
}
