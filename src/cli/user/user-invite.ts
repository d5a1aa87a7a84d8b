import { randomBytes } from 'node:crypto';
import { operator } from '../../administration/caller.ts';
import { userEvent } from '../../administration/user-events.ts';
import { invitationLifetimeMs, mintInvitation } from '../../credentials/invitation-token.ts';
import type { UserRecord } from '../../stores/user-records.ts';
import { type Call, Failure } from '../command.ts';
import { requireUser } from '../lookups.ts';
import { readableTime } from '../present.ts';
import { printResult } from '../terminal.ts';
import { withStores } from '../with-stores.ts';
import { assertUnmanaged, isGone, translatingManaged } from './user-changes.ts';

/** `user invite NAME`: a token by which the user sets a password, shown this once. */
export async function inviteUser(call: Call): Promise<void> {
  await withStores(call, async (context) => {
    const { records, audit, now } = context;
    const user = await requireUser(context, call.operands[0]!);
    const { token, hash } = mintInvitation(randomBytes);
    const created = now();
    const expires = created + invitationLifetimeMs;
    const invited = await translatingManaged(
      context,
      user,
      records.inviteUser(user.id, {
        caller: operator.ref,
        decide(found) {
          assertUnmanaged(found);
          if (found.user.kind === 'service')
            throw new Failure(
              'failed',
              `${JSON.stringify(user.username)} is a service, which never signs in`,
            );
          return { hash, maker: operator.ref, created, expires };
        },
        audit: audit.withChange(operator, (made: UserRecord) => [userEvent('invitation_created', made)]),
      }),
    );
    if (invited === undefined) throw isGone(user);
    call.terminal.stderr.write(
      `postern: until ${readableTime(expires)} it sets a password: POST /api/login/invitation {"token","password"}\n`,
    );
    await printResult(call, { token, expires: new Date(expires).toISOString() }, token);
  });
}
