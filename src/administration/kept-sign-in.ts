import { actorOfSession, system } from '../log/log.ts';
import type { Records } from '../stores/records.ts';
import type { Session } from '../stores/sessions.ts';
import type { Audit } from './audit.ts';
import type { Author } from './caller.ts';
import { recordSessionEnd } from './sessions.ts';

/** Dependencies of {@link keepSignIn}. */
export interface KeepSignInOptions {
  readonly records: Pick<Records, 'keepSignIn'>;
  readonly signIn: {
    /** Revokes a session just created, whose tokens have not been sent. */
    readonly cancel: (session: Pick<Session, 'id'>) => Promise<void>;
  };
  readonly audit: Audit;
  /** Epoch ms. */
  readonly now: () => number;
}

/**
 * Keeps the audit event of a sign-in together with the user's last sign-in; the session exists already, but its tokens have not
 * been sent. If the event can't be kept, the session is revoked and the call rejects: no one gets in without an event. A process
 * that is killed before the event is kept leaves a session without any token.
 */
export async function keepSignIn(
  { records, signIn, audit, now }: KeepSignInOptions,
  origin: Author['origin'],
  session: Pick<Session, 'id' | 'userId'>,
  provider?: string,
): Promise<void> {
  const { id, userId } = session;
  const by = { actor: actorOfSession(userId, id), origin };
  try {
    await records.keepSignIn(
      { userId, instant: now() },
      audit.withChange(by, () => [{ event: 'login_succeeded', provider, subject: userId, session: id }]),
    );
  } catch (error) {
    await signIn.cancel(session);
    recordSessionEnd(audit, { actor: system, origin }, session);
    throw error;
  }
}
