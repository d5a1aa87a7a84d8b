import { createPrincipal, type Principal } from '../credentials/principal.ts';
import { heldScopes, intersectScopes } from '../credentials/scopes.ts';
import type { Records } from '../stores/records.ts';
import type { Sessions } from '../stores/sessions.ts';
import { principalOfApiKey } from './api-key.ts';

/** The principal of the same credential as it is now; null once it is no good. Rejects when a store is away. */
export type Revalidate = (principal: Principal) => Promise<Principal | null>;

/** Builds the second look at a credential that was good when its request came in and may have ended since. */
export function createRevalidate(options: {
  readonly records: Pick<Records, 'findApiKey' | 'findUser'>;
  readonly sessions: Pick<Sessions, 'findLive'>;
  readonly catalogue: ReadonlySet<string>;
  readonly tenant: string;
  readonly now: () => number;
}): Revalidate {
  const { records, sessions, catalogue, tenant, now } = options;

  async function ofApiKey(principal: Principal): Promise<Principal | null> {
    const found = await records.findApiKey(principal.credentialId);
    return (found && principalOfApiKey(found, { catalogue, tenant, now: now() })) ?? null;
  }

  async function ofSession(principal: Principal): Promise<Principal | null> {
    const live = await sessions.findLive(principal.credentialId);
    if (live === undefined) return null;
    const found = await records.findUser(principal.userId);
    if (found === undefined || found.user.disabled) return null;
    const held = heldScopes(found.user.scopes, found.sets, catalogue);
    const { userId, username } = principal;
    return createPrincipal({
      kind: 'session',
      userId,
      username,
      scopes: intersectScopes(principal.scopes, held),
      credentialId: live.id,
      expires: live.expires,
      tenant,
    });
  }

  return (principal) => (principal.kind === 'api_key' ? ofApiKey(principal) : ofSession(principal));
}
