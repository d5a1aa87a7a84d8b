import { z } from 'zod';

const errorFields = {
  detail: z
    .string()
    .describe('For people; constant per code, except that `insufficient_scope` names the scopes.'),
  code: z.string().describe('Stable: what to branch on.'),
  request_id: z.string().describe('As in `X-Request-Id`.'),
} as const;

const oauthFields = { error: z.string(), error_description: z.string() } as const;

/** Body of every refusal but a 422. */
export const errorBody = z.object(errorFields).meta({ id: 'Error' });

/** Body of a refusal of sign-in or refresh: RFC 6749 §5.2 beside the fields of every refusal. */
export const oauthErrorBody = z.object({ ...errorFields, ...oauthFields }).meta({ id: 'OAuthError' });

/** Problem in a 422, in FastAPI's shape. */
export const validationProblem = z
  .object({
    type: z.string().describe("pydantic 2's name of the problem."),
    loc: z.array(z.union([z.string(), z.int()])).describe('`body` or `query`, then the path to the value.'),
    msg: z.string(),
    input: z.unknown().describe('The value as received; null if it is absent or secret.'),
    ctx: z.record(z.string(), z.unknown()).optional(),
  })
  .meta({ id: 'ValidationError' });

/** Body of a 422: every problem at once. */
export const validationErrorBody = z
  .object({
    detail: z.array(validationProblem),
    code: z.literal('validation_error'),
    request_id: errorFields.request_id,
    error: oauthFields.error.optional().describe('At sign-in only (RFC 6749 §5.2).'),
    error_description: oauthFields.error_description.optional().describe('At sign-in only.'),
  })
  .meta({ id: 'HTTPValidationError' });
