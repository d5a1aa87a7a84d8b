import { z } from 'zod';
import { maxSubjectLength } from '../../identity-providers/assertion.ts';
import { codePointString, withoutControlCharacters } from '../../input/pydantic-types.ts';

const subjectText = () =>
  codePointString({ min: 1, max: maxSubjectLength, pattern: withoutControlCharacters }).describe(
    'The `sub` of the user at the provider, exactly.',
  );

/** A new identity; `providers` are the names of the configured ones (empty: any, for the OpenAPI document). */
export function identityLink(providers: readonly string[]) {
  const [first, ...others] = providers;
  const provider = first === undefined ? z.string() : z.enum([first, ...others]);
  return z
    .strictObject({
      provider: provider.describe('The name of a configured identity provider.'),
      subject: subjectText().refine((subject) => subject.trim() !== '', 'must not be blank'),
    })
    .meta({ id: 'IdentityLink' });
}

/** The identity to unlink. */
export const identityQuery = z.strictObject({ provider: z.string(), subject: z.string() });

/** An identity as it is read. */
export const identityRead = z
  .object({
    provider: z.string().nullable().describe('Null: no configured provider has its issuer.'),
    subject: z.string(),
  })
  .meta({ id: 'Identity' });

/** The identities of a user. */
export const identityList = z.array(identityRead).meta({ id: 'Identities' });
