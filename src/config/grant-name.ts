import type { IdentityProviderConfig } from './schema.ts';

/** What tells a provider's grants apart, and is kept with what they gave: the claim and the value that are asked for. */
export function nameOfGrant({
  claim,
  value,
}: Pick<IdentityProviderConfig['grants'][number], 'claim' | 'value'>): string {
  return JSON.stringify([claim, String(value)]);
}
