import { z } from 'zod';
import { openApiDocument } from '../../../src/openapi/document.ts';
import type { ApiResponse } from '../clients/api-client.ts';

interface TestResponse {
  readonly $ref?: string;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly content?: Readonly<
    Record<string, { schema: object; examples?: Readonly<Record<string, unknown>> }>
  >;
}

/** An operation as the document has it. */
export interface DocumentedOperation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  /** By status, `default` for the rest. */
  readonly responses: Readonly<Record<string, TestResponse>>;
}

interface Document {
  readonly paths: Record<
    string,
    Record<string, { operationId: string; responses: Record<string, TestResponse> }>
  >;
  readonly components: { readonly schemas: object; readonly responses: Record<string, TestResponse> };
}

const document = openApiDocument() as Document;

/** The operations of the document by id. */
export const documentedOperations: ReadonlyMap<string, DocumentedOperation> = new Map(
  Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, { operationId: id, responses }]) => [
      id,
      { id, method: method.toUpperCase(), path, responses: responses },
    ]),
  ),
);

/** The codes of an operation's refusals with that status. */
export function codesOf({ responses }: DocumentedOperation, status: number): string[] {
  return Object.keys(responses[status]?.content?.['application/json']?.examples ?? {});
}

/** Headers that say something of the response's kind: sent where documented, and nowhere else. */
const tellingHeaders = ['Set-Cookie', 'WWW-Authenticate', 'Retry-After', 'Allow'] as const;

/** What is wrong with a response by the document: its status, headers, body and code. */
export function deviations(operation: DocumentedOperation, response: ApiResponse): string[] {
  const described = resolve(operation.responses[response.status] ?? operation.responses.default!);
  const media = described.content?.['application/json'];
  return [
    ...headerDeviations(described, response),
    ...(media === undefined ? emptyDeviations(response) : bodyDeviations(media, response)),
  ];
}

function resolve(response: TestResponse): TestResponse {
  return response.$ref === undefined
    ? response
    : document.components.responses[response.$ref.split('/').at(-1)!]!;
}

function headerDeviations({ headers = {} }: TestResponse, response: ApiResponse): string[] {
  const has = (name: string) =>
    name === 'Set-Cookie'
      ? response.setCookies.length > 0
      : response.headers[name.toLowerCase()] !== undefined;
  const undocumented = tellingHeaders.filter((name) => has(name) && !(name in headers));
  // Those of a refusal belong to some of the codes of its status alone.
  // Who ends a session that is not the one that asks keeps the cookie.
  const isOptional = (name: string) => name === 'Set-Cookie' && response.status === 204;
  const missing = Object.keys(headers).filter(
    (name) => response.status < 400 && !has(name) && !isOptional(name),
  );
  return [
    ...undocumented.map((name) => `${name} is not documented`),
    ...missing.map((name) => `${name} is missing`),
    ...(has('X-Request-Id') ? [] : ['X-Request-Id is missing']),
  ];
}

function emptyDeviations({ text }: ApiResponse): string[] {
  return text === '' ? [] : [`a body that is not documented: ${text}`];
}

function bodyDeviations(
  media: { schema: object; examples?: object },
  { json, headers, status }: ApiResponse,
) {
  const found: string[] = [];
  if (headers['content-type'] !== 'application/json') found.push(`content type ${headers['content-type']}`);
  const { error } = schemaOf(media.schema).safeParse(json);
  if (error !== undefined) found.push(z.prettifyError(error));
  if (status >= 400 && status !== 422 && !(json?.code in (media.examples ?? {})))
    found.push(`${json?.code} is not documented`);
  return found;
}

/** The schema, closed: members that it doesn't name are deviations here, though clients are told to expect them. */
function schemaOf(schema: object): z.ZodType {
  const text = JSON.stringify({ ...schema, $defs: document.components.schemas });
  const closed = JSON.parse(text.replaceAll('#/components/schemas/', '#/$defs/'), (_key, value) =>
    value?.type === 'object' && value.properties !== undefined
      ? { additionalProperties: false, ...value }
      : value,
  );
  return z.fromJSONSchema(closed);
}
