import type { Exchange } from '../http/exchange.ts';
import { actorOfSession, system } from '../log/log.ts';
import type { Records } from '../stores/records.ts';
import type { Session } from '../stores/sessions.ts';
import type { Audit } from './audit.ts';
import type { ChangeAudit } from './change-audit.ts';
import type { SignIn } from './sign-in.ts';

/** What keeping the audit line of a sign-in needs. */
export interface SignInLineOptions {
  readonly records: Pick<Records, 'keepSignIn'>;
  readonly signIn: Pick<SignIn, 'cancel'>;
  readonly audit: Audit;
  readonly changeAudit: ChangeAudit;
  /** Epoch ms. */
  readonly now: () => number;
}

/**
 * Keeps the audit line of a sign-in together with the user's last sign-in; the session exists already, but its tokens have
 * not been sent. If the line can't be kept, the session is revoked and the call rejects: no one gets in without a line. A
 * process that is killed before the line is kept leaves a session of which no one has a token.
 */
export async function keepSignInLine(
  { records, signIn, audit, changeAudit, now }: SignInLineOptions,
  exchange: Exchange,
  session: Pick<Session, 'id' | 'userId'>,
  provider?: string,
): Promise<void> {
  const { id, userId } = session;
  const about = {
    outcome: 'success',
    subject: userId,
    session: id,
    target: { type: 'session', id },
  } as const;
  const line = { event: 'login_succeeded', actor: actorOfSession(userId, id), provider, ...about } as const;
  try {
    await records.keepSignIn(
      { userId, instant: now() },
      changeAudit<void>(exchange, () => [line]),
    );
  } catch (error) {
    await signIn.cancel(session);
    audit(exchange, { event: 'session_revoked', actor: system, ...about });
    throw error;
  }
}
