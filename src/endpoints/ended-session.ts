import { isUnavailable } from '../stores/breaker.ts';
import type { Records } from '../stores/records.ts';
import { admitsSession } from '../stores/session-epoch.ts';
import type { Session } from '../stores/sessions.ts';

/** What telling whether a session was alive needs. */
export interface EndedSessionOptions {
  readonly records: Pick<Records, 'findUser'>;
}

/**
 * Whether a session that the session store has just ended was alive by the records as well; true while they are
 * unavailable, because the end of a session is never held up by them.
 */
export async function wasAlive(records: EndedSessionOptions['records'], session: Session): Promise<boolean> {
  try {
    return admitsSession((await records.findUser(session.userId))?.user, session);
  } catch (error) {
    if (isUnavailable(error)) return true;
    throw error;
  }
}
