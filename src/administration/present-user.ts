import type { Holdings } from '../credentials/holdings.ts';
import type { UserRecord } from '../stores/user-records.ts';
import { toTimestamp } from './timestamp.ts';

/** Dependencies of presenting users. */
export interface PresentUserParts {
  readonly holdings: Holdings;
  /** The name of the configured provider with that issuer; null if there is none. */
  readonly providerOf: (issuer: string) => string | null;
}

/** Presents a user as `UserRead`, without the hash of the password. */
export function presentUser(record: UserRecord, { holdings, providerOf }: PresentUserParts) {
  const { user } = record;
  const granted = holdings.fromProviders(record);
  return {
    id: user.id,
    username: user.username,
    display_name: user.displayName,
    email: user.email,
    kind: user.kind,
    scopes: [...user.scopes],
    scope_sets: [...user.scopeSets],
    disabled: user.disabled,
    created: toTimestamp(user.created),
    updated: toTimestamp(user.updated),
    last_login: user.lastLogin === null ? null : toTimestamp(user.lastLogin),
    managed: user.managed,
    has_password: user.passwordHash !== null,
    provider_scopes: [...granted.scopes],
    provider_scope_sets: [...granted.scopeSets],
    identities: presentIdentities(record, providerOf),
    effective_scopes: [...holdings.mostOf(record).scopes],
  };
}

/** The identities of a user, in the order in which they were linked. */
export function presentIdentities({ identities }: UserRecord, providerOf: PresentUserParts['providerOf']) {
  return identities.map(({ issuer, subject }) => ({ provider: providerOf(issuer), subject }));
}
