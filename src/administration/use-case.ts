import type { Holdings } from '../credentials/holdings.ts';
import type { Records } from '../stores/records.ts';
import type { Audit } from './audit.ts';

/** Dependencies of use cases besides stores; each use case takes those that it needs. */
export interface UseCaseParts {
  /** Rights that users and keys hold now. */
  readonly holdings: Holdings;
  /** All scopes that can be granted. */
  readonly catalogue: ReadonlySet<string>;
  readonly audit: Audit;
  /** Epoch ms. */
  readonly now: () => number;
  readonly random: (byteCount: number) => Uint8Array;
  /** Ends everything that a session or key has in flight. */
  readonly onCredentialEnded: (credentialId: string) => void;
  /** Called if ended sessions stay in the session store until they expire, because it is unavailable. Default: ignored. */
  readonly onSessionsKept?: (error: unknown) => void;
}

/** Dependencies of a use case that calls these operations on the records. */
export type PartsWith<Operation extends keyof Records> = UseCaseParts & {
  readonly records: Pick<Records, Operation>;
};
