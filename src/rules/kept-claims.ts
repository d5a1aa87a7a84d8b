import { pointerOfMember } from './json-pointer.ts';

type ClaimScalar = string | number | boolean;

/** Value of a claim that a session may keep. */
export type ClaimValue = ClaimScalar | readonly ClaimScalar[];

/** A claim that a session keeps. */
export interface KeptClaim {
  /** The name in `keep`. */
  readonly name: string;
  /** Where the claim is in the ID token: a JSON Pointer. */
  readonly pointer: string;
  readonly value: ClaimValue;
}

/** The JSON Pointer of a claim in `keep`: the claim's name, unless it begins with a slash. */
export function pointerOfClaim(claim: string): string {
  return claim.startsWith('/') ? claim : pointerOfMember(claim);
}
