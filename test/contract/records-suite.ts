import type { Test } from 'tap';
import type { Records } from '../../src/stores/records.ts';
import type { ScopeSet } from '../../src/stores/scope-set.ts';
import { runApiKeyPagingSuite } from './api-key-paging-suite.ts';
import { runApiKeysSuite } from './api-keys-suite.ts';
import { runAuditFeedSuite } from './audit-feed-suite.ts';
import { runAuditSuite } from './audit-suite.ts';
import { runEpochsSuite } from './epochs-suite.ts';
import { runIdentitiesSuite } from './identities-suite.ts';
import { runSecretsSuite } from './secrets-suite.ts';
import { runSigningKeysSuite } from './signing-keys-suite.ts';
import { runUsersSuite } from './users-suite.ts';

/** A records store with a clock controlled by the test. */
export interface RecordsUnderTest {
  readonly store: Records;
  /** Another connection to the same data, as another process has it. */
  openSecond(): Records | Promise<Records>;
  advance(ms: number): void | Promise<void>;
  addScopeSet(set: ScopeSet): Promise<void>;
  /** Adds the secret of cookies as it was kept before it could be replaced. */
  addEarlierCookieSecret(secret: Uint8Array): Promise<void>;
}

/** How the suite gets a store; each call gives an empty one, closed by the test's teardown. */
export interface RecordsFactory {
  readonly name: string;
  create(t: Test): RecordsUnderTest | Promise<RecordsUnderTest>;
}

/** The contract of every records store. */
export function runRecordsSuite(factory: RecordsFactory): void {
  runUsersSuite(factory);
  runEpochsSuite(factory);
  runIdentitiesSuite(factory);
  runApiKeysSuite(factory);
  runApiKeyPagingSuite(factory);
  runSecretsSuite(factory);
  runSigningKeysSuite(factory);
  runAuditSuite(factory);
  runAuditFeedSuite(factory);
}
