import type { Holdings } from '../credentials/holdings.ts';
import type { HeldNow, Principal } from '../credentials/principal.ts';
import type { Records } from '../stores/records.ts';
import { admitsSession } from '../stores/session-epoch.ts';
import type { LiveSession, Sessions } from '../stores/sessions.ts';
import { principalOfApiKey } from './api-key.ts';

/** Creates the check of a credential that was valid when its request arrived and may have ended since. */
export function createHeldNow(options: {
  readonly records: Pick<Records, 'version' | 'findApiKey' | 'findUser'>;
  readonly sessions: Pick<Sessions, 'findLive'>;
  readonly holdings: Holdings;
  readonly tenant: string;
  readonly now: () => number;
}): HeldNow {
  const { records, sessions, holdings, tenant, now } = options;

  async function ofApiKey({ credentialId }: Principal): Promise<ReadonlySet<string> | null> {
    const found = await records.findApiKey(credentialId);
    return (found && principalOfApiKey(found, { holdings, tenant, now: now() })?.held) ?? null;
  }

  /** Finds a session. In an outage of the store, `sessions` still returns those recently seen alive; others count as ended. */
  async function findLive(sessionId: string): Promise<LiveSession | undefined> {
    try {
      return await sessions.findLive(sessionId);
    } catch {
      return undefined;
    }
  }

  async function ofSession({ credentialId, userId }: Principal): Promise<ReadonlySet<string> | null> {
    const session = await findLive(credentialId);
    if (session === undefined) return null;
    const found = await records.findUser(userId);
    if (found === undefined || !admitsSession(found.user, session)) return null;
    return new Set(holdings.ofUser(found, session.origin).scopes);
  }

  /** Rethrows an error of the records store while its cached records are valid: it proves nothing about a credential. */
  function rethrowWhileCacheIsValid(error: unknown): void {
    try {
      records.version();
    } catch {
      return;
    }
    throw error;
  }

  return async (principal) => {
    try {
      return await (principal.kind === 'api_key' ? ofApiKey(principal) : ofSession(principal));
    } catch (error) {
      rethrowWhileCacheIsValid(error);
      return null;
    }
  };
}
