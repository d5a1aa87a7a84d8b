import type { ApiResponse } from '../clients/api-client.ts';

/** The catalogue of the tests' configuration. */
export const catalogue = [
  'apikeys:read',
  'apikeys:write',
  'audit:read',
  'scopesets:read',
  'scopesets:write',
  'sessions:read',
  'sessions:write',
  'store:read',
  'store:write',
  'users:read',
  'users:write',
];

type Loc = readonly (string | number)[];

/** The problems of a 422; throws for any other answer. */
export function problemsOf({ status, json }: ApiResponse): any[] {
  if (status !== 422 || json.code !== 'validation_error') throw new Error(`answered ${status} ${json?.code}`);
  return json.detail;
}

// Each is one problem as the contract spells it; `loc` begins with body or query.

export const missing = (...loc: Loc) => ({ type: 'missing', loc, msg: 'Field required', input: null });

export const notAList = (loc: Loc, input: unknown) => ({
  type: 'list_type',
  loc,
  msg: 'Input should be a valid list',
  input,
});

export const notAString = (loc: Loc, input: unknown) => ({
  type: 'string_type',
  loc,
  msg: 'Input should be a valid string',
  input,
});

export const tooFewItems = (loc: Loc, input: unknown) => ({
  type: 'too_short',
  loc,
  msg: 'List should have at least 1 item after validation, not 0',
  input,
  ctx: { field_type: 'List', min_length: 1, actual_length: 0 },
});

export const tooManyItems = (loc: Loc, max: number, input: readonly unknown[]) => ({
  type: 'too_long',
  loc,
  msg: `List should have at most ${max} items after validation, not ${input.length}`,
  input,
  ctx: { field_type: 'List', max_length: max, actual_length: input.length },
});

export const tooShortText = (loc: Loc, input: string) => ({
  type: 'string_too_short',
  loc,
  msg: 'String should have at least 1 character',
  input,
  ctx: { min_length: 1 },
});

export const valueError = (loc: Loc, message: string, input: unknown) => ({
  type: 'value_error',
  loc,
  msg: `Value error, ${message}`,
  input,
  ctx: { error: {} },
});

export const extra = (loc: Loc, input: unknown) => ({
  type: 'extra_forbidden',
  loc,
  msg: 'Extra inputs are not permitted',
  input,
});

export const noDate = (loc: Loc, input: string, error: string) => ({
  type: 'datetime_from_date_parsing',
  loc,
  msg: `Input should be a valid datetime or date, ${error}`,
  input,
  ctx: { error },
});

export const noDateTime = (loc: Loc, input: unknown) => ({
  type: 'datetime_type',
  loc,
  msg: 'Input should be a valid datetime',
  input,
});

export const noOffset = (loc: Loc, input: string) => ({
  type: 'timezone_aware',
  loc,
  msg: 'Input should have timezone info',
  input,
});

export const noBoolean = (loc: Loc, input: string) => ({
  type: 'bool_parsing',
  loc,
  msg: 'Input should be a valid boolean, unable to interpret input',
  input,
});

export const noneOf = (loc: Loc, expected: string, input: unknown) => ({
  type: 'literal_error',
  loc,
  msg: `Input should be ${expected}`,
  input,
  ctx: { expected },
});

/** {@link noneOf} the catalogue. */
export function noScope(loc: Loc, input: unknown) {
  const quoted = catalogue.map((scope) => `'${scope}'`);
  return noneOf(loc, `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`, input);
}
