import type { Holdings } from '../credentials/holdings.ts';
import type { HeldNow, Principal } from '../credentials/principal.ts';
import type { Records } from '../stores/records.ts';
import type { Sessions } from '../stores/sessions.ts';
import { principalOfApiKey } from './api-key.ts';

/** Builds the second look at a credential that was good when its request came in and may have ended since. */
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

  /** The session store itself keeps those seen alive going while it is away; what it then refuses has ended. */
  async function isLive(sessionId: string): Promise<boolean> {
    try {
      return (await sessions.findLive(sessionId)) !== undefined;
    } catch {
      return false;
    }
  }

  async function ofSession({ credentialId, userId }: Principal): Promise<ReadonlySet<string> | null> {
    if (!(await isLive(credentialId))) return null;
    const found = await records.findUser(userId);
    if (found === undefined || found.user.disabled) return null;
    return new Set(holdings.ofUser(found).scopes);
  }

  /** Records that are away say nothing, for as long as what was remembered of them counts. */
  function assertStillCounting(error: unknown): void {
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
      assertStillCounting(error);
      return null;
    }
  };
}
