import { Refusal, type RefusalCode, refusals } from '../errors.ts';
import { refusalParts } from '../http/reply.ts';
import { componentRef, type Json } from './schemas.ts';

/** Form of an operation's refusals. */
export interface RefusalStyle {
  /** True if refusals have OAuth's fields too. */
  readonly oauth: boolean;
  /** Scopes named in `insufficient_scope`. */
  readonly scopes: readonly string[];
}

/** Refusals that any operation may get: before it is known which operation was called, or because the operation failed. */
const anywhere: readonly RefusalCode[] = [
  'bad_request',
  'method_not_allowed',
  'request_timeout',
  'body_too_large',
  'target_too_long',
  'expectation_failed',
  'misdirected',
  'headers_too_large',
  'internal_error',
  'not_implemented',
  'overloaded',
  'version_not_supported',
];

/** Responses of an operation for these refusals, by status; each example is exactly the body that is sent. */
export function refusalResponses(codes: readonly RefusalCode[], style: RefusalStyle): Json {
  const byStatus = Map.groupBy(codes, (code) => refusals[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, ofStatus]) => [
      status,
      refusalResponse(ofStatus, schemaOf(ofStatus, style), style),
    ]),
  );
}

const either = { anyOf: ['OAuthError', 'Error'].map((name) => ({ $ref: componentRef('schemas', name) })) };

function schemaOf(codes: readonly RefusalCode[], { oauth }: RefusalStyle): Json {
  // A path that can't be read belongs to no operation, so its refusal lacks OAuth's fields.
  if (oauth && codes.includes('bad_request')) return either;
  return { $ref: componentRef('schemas', oauth ? 'OAuthError' : 'Error') };
}

/** Responses common to all operations, for `components.responses`: a request may be refused before its operation is known. */
export const commonResponses: Json = {
  Refusal: commonResponse({ $ref: componentRef('schemas', 'Error') }),
  OAuthRefusal: commonResponse(either),
};

function commonResponse(schema: Json): Json {
  return {
    ...refusalResponse(anywhere, schema, { oauth: false, scopes: [] }),
    description: 'A request that could not be read, or an answer that could not be made.',
  };
}

function refusalResponse(codes: readonly RefusalCode[], schema: Json, style: RefusalStyle): Json {
  const samples = codes.map((code) => ({ code, ...sample(code, style) }));
  const headers = new Set(samples.flatMap((one) => ['X-Request-Id', ...one.headerNames]));
  return {
    description: codes.map((code) => `${refusals[code].detail} (\`${code}\`)`).join('; '),
    headers: headerRefs([...headers]),
    content: {
      'application/json': {
        schema,
        examples: Object.fromEntries(samples.map(({ code, body }) => [code, { value: body }])),
      },
    },
  };
}

function sample(code: RefusalCode, { oauth, scopes }: RefusalStyle) {
  const options = {
    ...(code === 'insufficient_scope' && { missingScopes: scopes, neededScopes: scopes }),
    ...(code === 'method_not_allowed' && { allow: ['POST', 'OPTIONS'] }),
  };
  const requestId = '5f0a6c1e-6d0b-4c58-9f5e-0f2f0a4f7f10';
  const { headers, body } = refusalParts(new Refusal(code, options), 'acme', requestId, oauth);
  return { headerNames: headers.filter((_, index) => index % 2 === 0), body };
}

/** References to `components.headers`. */
export function headerRefs(names: readonly string[]): Json {
  return Object.fromEntries(names.map((name) => [name, { $ref: componentRef('headers', name) }]));
}
