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
 * Keeps the audit line of a sign-in, whose session exists and whose tokens have not been sent, and with it that the user
 * signed in. If the line can't be kept, the session is revoked and this rejects: no one gets in without a line. A process that is killed between the two
 * leaves a session of which no one has a token.
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
