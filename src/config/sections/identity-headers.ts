import { z } from 'zod';
import { keptName } from './identity-providers.ts';

/** Facts about the caller that are lists of names, joined by commas. */
export const identityLists = ['scope_sets', 'service_scopes'] as const;

/** Facts about the caller that an upstream may receive, besides claims. */
const identityFields = [
  'subject',
  'username',
  'display_name',
  'email',
  'method',
  'scopes',
  'scopes_csv',
  'credential_id',
  'tenant',
  ...identityLists,
] as const;

const claimPrefix = 'claim:';
const fieldRule = `must be one of ${identityFields.join(', ')}, or claim:NAME`;
const field = z.union([
  z.enum(identityFields),
  z.templateLiteral([claimPrefix, z.string().regex(keptName)], { error: fieldRule }),
]);

/** A fact about the caller that is a claim of a provider. */
export type ClaimField = Extract<z.output<typeof field>, `${typeof claimPrefix}${string}`>;

/** True for a fact that is a claim. */
export function isClaim(from: string): from is ClaimField {
  return from.startsWith(claimPrefix);
}

/** The name in `keep` of a fact that is a claim. */
export function nameOfClaim(from: ClaimField): string {
  return from.slice(claimPrefix.length);
}

const chosen = z.string().refine((text) => text.isWellFormed() && !/\p{Cc}/u.test(text), {
  error: 'must not contain control characters',
});

/** A name that may be held, and the value to send then. */
const choice = z.record(z.string(), chosen).superRefine(
  (entry, context) => {
    if (typeof entry !== 'object' || entry === null) return;
    const names = Object.keys(entry);
    if (names.length !== 1)
      context.addIssue('must have one name with its value: the list decides which name comes first');
    else if (names[0] === '')
      context.addIssue({ code: 'custom', path: [''], message: 'must not be empty', params: { at: 'key' } });
  },
  { when: () => true },
);

/** The value of a header that tells who is calling: a fact, or a fact and how it is written. */
export const identityValue = z.union(
  [
    field,
    z.strictObject({
      from: field.describe('The fact about the caller.'),
      encoding: z
        .enum(['percent', 'utf8'])
        .optional()
        .describe('percent: as X-Auth- headers are; utf8: the bytes as they are. Default: percent.'),
      first: z
        .array(choice)
        .min(1, 'must not be empty')
        .optional()
        .describe(
          'Names with values, of which the first name that the list has, or that the claim is, decides the value.',
        ),
      else: chosen.optional().describe('Value if it is none of the names.'),
    }),
  ],
  { error: `${fieldRule}, or a map with from` },
);
