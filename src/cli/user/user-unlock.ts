import { operator } from '../../administration/caller.ts';
import { userEvent } from '../../administration/user-events.ts';
import { createLoginThrottle } from '../../credentials/throttle.ts';
import { loginLimits } from '../../gateway/login-limits.ts';
import { canonicalAccountName } from '../../rules/account-name.ts';
import { isUnavailable } from '../../stores/remote/breaker.ts';
import type { UserRecord } from '../../stores/user-records.ts';
import { type Call, Failure } from '../command.ts';
import { isGone, withUser } from './user-changes.ts';

/** `user unlock NAME`: failed sign-ins of the user no longer count; what counts against addresses stays. */
export async function unlockUser(call: Call): Promise<void> {
  await withUser(call, async ({ config, records, attempts, audit }, user) => {
    // The audit event first: the counters may be in another store, and nothing is lifted without it.
    const found = await records.judgeUserRecord(user.id, {
      caller: operator.ref,
      decide() {},
      audit: audit.withChange(operator, (record: UserRecord) => [userEvent('throttle_lifted', record)]),
    });
    if (found === undefined) throw isGone(user);
    const throttle = createLoginThrottle(attempts, loginLimits(config));
    await throttle.lift(canonicalAccountName(found.user.username)).catch((error: unknown) => {
      if (!isUnavailable(error)) throw error;
      const reason = 'failed sign-ins are counted in the session store, which is unavailable';
      throw new Failure('failed', `${reason}: nothing was lifted`, error);
    });
    return found;
  });
}
