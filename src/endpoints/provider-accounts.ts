import { uuidv7 } from 'uuidv7';
import type { IdentityProviderConfig } from '../config/sections/schema.ts';
import type { VerifiedIdentity } from '../identity-providers/identity-provider.ts';
import type { Log } from '../log/log.ts';
import { canonicalAccountName, parseUsername } from '../rules/account-name.ts';
import type { AuditOf } from '../stores/audit.ts';
import type { AcceptedIdentity, Identity, NewIdentityUser } from '../stores/identity.ts';
import type { Records } from '../stores/records.ts';

/** Accounts of users who sign in through one provider. */
export interface ProviderAccounts {
  /**
   * The account of an identity, which is (issuer, subject) and nothing else, with what the provider grants now; it may
   * be disabled. A first sign-in creates one where that is configured; undefined when there is none.
   */
  accept(
    identity: VerifiedIdentity,
    requestId: string,
    audit: AuditOf<AcceptedIdentity>,
  ): Promise<AcceptedIdentity | undefined>;
  /** True if the identity is linked to that user right now, and the user is an enabled person. */
  maySignIn(userId: string, identity: Identity): Promise<boolean>;
}

/** Creates the accounts of the provider of that name. */
export function createProviderAccounts(options: {
  readonly provider: string;
  readonly accounts: IdentityProviderConfig['accounts'];
  readonly records: Pick<Records, 'acceptIdentity' | 'findScopeSetByName' | 'findUser' | 'identitiesOf'>;
  /** The clock, epoch ms. */
  readonly now: () => number;
  readonly log: Pick<Log, 'warn'>;
}): ProviderAccounts {
  const { provider, accounts, records, now, log } = options;

  async function idsOfSets(names: readonly string[], requestId: string): Promise<string[]> {
    const found = await Promise.all(names.map((name) => records.findScopeSetByName(name)));
    const unknown = names.filter((_, index) => found[index] === undefined);
    // Removing a set takes it away from every user; it must not stop them from signing in.
    for (const name of unknown) {
      const about = { provider, scope_set: name, request_id: requestId };
      log.warn('grant refers to an unknown scope set', about);
    }
    return found.flatMap((set) => (set === undefined ? [] : [set.id]));
  }

  return {
    async accept({ issuer, subject, profile, grants }, requestId, audit) {
      const claims = {
        issuer,
        subject,
        displayName: profile.displayName,
        email: profile.email,
        scopes: grants.scopes,
        scopeSets: await idsOfSets(grants.scopeSets, requestId),
        grants: grants.grants,
        provider,
      };
      const newUser = accounts === 'create' ? newUserOf(profile.username, provider, now()) : null;
      return records.acceptIdentity(claims, newUser, audit);
    },

    async maySignIn(userId, { issuer, subject }) {
      const found = await records.findUser(userId);
      if (found === undefined || found.user.disabled || found.user.kind === 'service') return false;
      const identities = await records.identitiesOf(userId);
      return identities.some((identity) => identity.issuer === issuer && identity.subject === subject);
    },
  };
}

/** New user with candidates for its name, which may be taken: each is longer than the last, the final one is the id. */
function newUserOf(username: string, provider: string, created: number): NewIdentityUser {
  const id = uuidv7();
  const names = [username, `${username} (${provider})`, `${username} (${id})`, id]
    .map(parseUsername)
    .filter((name) => typeof name === 'string')
    .map((name) => ({ username: name, canonicalName: canonicalAccountName(name) }));
  return { id, created, names };
}
