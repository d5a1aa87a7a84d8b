import { z } from 'zod';
import { openApiDocument } from '../../src/openapi/document.ts';
import type { ApiAnswer } from './api-client.ts';

interface Answer {
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
  readonly answers: Readonly<Record<string, Answer>>;
}

interface Document {
  readonly paths: Record<string, Record<string, { operationId: string; responses: Record<string, Answer> }>>;
  readonly components: { readonly schemas: object; readonly responses: Record<string, Answer> };
}

const document = openApiDocument() as Document;

/** The operations of the document by id. */
export const documentedOperations: ReadonlyMap<string, DocumentedOperation> = new Map(
  Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, { operationId: id, responses }]) => [
      id,
      { id, method: method.toUpperCase(), path, answers: responses },
    ]),
  ),
);

/** Headers that say something of the answer's kind: sent where documented, and nowhere else. */
const tellingHeaders = ['Set-Cookie', 'WWW-Authenticate', 'Retry-After', 'Allow'] as const;

/** What is wrong with an answer by the document: its status, headers, body and code. */
export function deviations(operation: DocumentedOperation, answer: ApiAnswer): string[] {
  const described = resolve(operation.answers[answer.status] ?? operation.answers.default!);
  const media = described.content?.['application/json'];
  return [
    ...headerDeviations(described, answer),
    ...(media === undefined ? emptyDeviations(answer) : bodyDeviations(media, answer)),
  ];
}

function resolve(answer: Answer): Answer {
  return answer.$ref === undefined ? answer : document.components.responses[answer.$ref.split('/').at(-1)!]!;
}

function headerDeviations({ headers = {} }: Answer, answer: ApiAnswer): string[] {
  const has = (name: string) =>
    name === 'Set-Cookie' ? answer.setCookies.length > 0 : answer.headers[name.toLowerCase()] !== undefined;
  const undocumented = tellingHeaders.filter((name) => has(name) && !(name in headers));
  // Those of a refusal belong to some of the codes of its status alone.
  const missing = Object.keys(headers).filter((name) => answer.status < 400 && !has(name));
  return [
    ...undocumented.map((name) => `${name} is not documented`),
    ...missing.map((name) => `${name} is missing`),
    ...(has('X-Request-Id') ? [] : ['X-Request-Id is missing']),
  ];
}

function emptyDeviations({ text }: ApiAnswer): string[] {
  return text === '' ? [] : [`a body that is not documented: ${text}`];
}

function bodyDeviations(media: { schema: object; examples?: object }, { json, headers, status }: ApiAnswer) {
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
