import { z } from 'zod';
import type { IdentityProvider, Presented } from '../identity-providers/identity-provider.ts';
import { loginResponse } from './login-response.ts';

const assertionFields = z.object({ assertion: z.string(), iss: z.string().optional() });
const codeFields = z.object({ code: z.string(), state: z.string(), iss: z.string().optional() });
const codeFieldsWithIssuer = codeFields.required();

/**
 * What the front end sends, for the OpenAPI document; which of the fields are required, the provider's `response` says.
 */
export const exchangeFields = z
  .object({
    assertion: z
      .string()
      .optional()
      .describe('Required with `response: id_token`: the ID token (a JWT) that the provider returned.'),
    code: z
      .string()
      .optional()
      .describe('Required with `response: code`, as `state`: what the provider returned.'),
    state: z.string().optional(),
    iss: z
      .string()
      .optional()
      .describe(
        'As the provider returned it (RFC 9207); required beside `code` where the provider announces that it returns it.',
      ),
  })
  .meta({ id: 'Body_Authentication-ExchangeForm', title: 'Body_Authentication-ExchangeForm' });

/** Fields whose values never appear in a problem. */
export const secretFields = ['assertion', 'code', 'state'] as const;

/** The 200 of the exchange. */
export const exchangeResponse = loginResponse
  .extend({ return_to: z.string().optional().describe('As passed to the start.') })
  .meta({ id: 'ExchangeResponse' });

/** Reads the fields from query or form; throws {@link ../errors.ts ValidationError}. */
export type ReadFields = <S extends z.ZodObject>(schema: S) => z.output<S>;

/** What the provider gave the front end, by the provider's `response`. Rejects as `requiresIssuer` does. */
export async function readPresented(
  provider: Pick<IdentityProvider, 'response' | 'requiresIssuer'>,
  read: ReadFields,
): Promise<Presented> {
  if (provider.response === 'id_token') {
    const { assertion, iss: issuer } = read(assertionFields);
    return { assertion, issuer };
  }
  const { code, state, iss: issuer } = read(codeFields);
  // Problems of the client's own are reported without a call to the provider.
  if (issuer === undefined && (await provider.requiresIssuer())) read(codeFieldsWithIssuer);
  return { code, state, issuer };
}
