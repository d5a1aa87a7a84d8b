import type { Audit } from '../administration/audit.ts';
import type { Holdings } from '../credentials/holdings.ts';
import type { PasswordHasher } from '../credentials/passwords.ts';
import type { Stores } from '../runtime/stores.ts';

/** What the endpoints of administration are built from. */
export interface AdministrationParts {
  readonly stores: Stores;
  readonly catalogue: ReadonlySet<string>;
  readonly holdings: Holdings;
  readonly passwords: PasswordHasher;
  /** Headers by which a browser forgets its session, names and values in turn. */
  readonly forgetting: readonly string[];
  readonly audit: Audit;
  readonly now: () => number;
  /** Ends everything that a session or key has in flight. */
  readonly onCredentialEnded: (credentialId: string) => void;
}
