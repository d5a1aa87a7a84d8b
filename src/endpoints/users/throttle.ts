import { z } from 'zod';
import { timestamp, toTimestamp } from '../../administration/timestamp.ts';
import { userEvent } from '../../administration/user-events.ts';
import type { LoginThrottle } from '../../credentials/throttle.ts';
import { Refusal } from '../../errors.ts';
import { noParameters, readQuery } from '../../input/query.ts';
import { canonicalAccountName } from '../../rules/account-name.ts';
import type { UserRecord, UserRecords } from '../../stores/user-records.ts';
import { callerIn } from '../caller.ts';
import type { Endpoint } from '../endpoint.ts';
import { assertMayChange, needed, type UserChangeOptions } from './user-changes.ts';

/** What the login throttle counts against a user. */
export const userThrottle = z
  .object({
    failures: z.int().describe('Failed sign-ins that still count.'),
    window_ends: timestamp.nullable().describe('When the last of them stop counting; null: none counts.'),
    refusing: z
      .boolean()
      .describe('Whether sign-ins are refused, from anywhere or from one of the addresses.'),
  })
  .meta({ id: 'UserThrottle' });

interface UserThrottleOptions extends Pick<UserChangeOptions, 'holdings' | 'now' | 'audit'> {
  readonly records: Pick<UserRecords, 'findUserRecord' | 'judgeUserRecord'>;
  readonly throttle: Pick<LoginThrottle, 'stateOf' | 'lift'>;
}

/** `GET /api/admin/users/{id}/throttle`. */
export function createUserThrottleRead({ records, throttle, now }: UserThrottleOptions): Endpoint {
  return {
    method: 'GET',
    path: '/api/admin/users/{id}/throttle',
    guard: { scopes: ['users:read'] },
    async handle({ id }) {
      const found = await records.findUserRecord(id);
      if (found === undefined) throw new Refusal('not_found');
      const { failures, remainingMs, isRefusing } = await throttle.stateOf(accountOf(found));
      const body: z.input<typeof userThrottle> = {
        failures,
        window_ends: remainingMs === null ? null : toTimestamp(now() + remainingMs),
        refusing: isRefusing,
      };
      return { status: 200, body };
    },
  };
}

/** `DELETE /api/admin/users/{id}/throttle`: the user may try again at once; what counts against addresses stays. */
export function createUserThrottleLift(options: UserThrottleOptions): Endpoint {
  const { records, throttle, audit } = options;
  return {
    method: 'DELETE',
    path: '/api/admin/users/{id}/throttle',
    guard: { scopes: needed },
    async handle(call) {
      const by = callerIn(call);
      readQuery(call.exchange.query, noParameters);
      // The line first: the counters may be in another store, and nothing is lifted without it.
      const found = await records.judgeUserRecord(call.id, {
        caller: by.ref,
        decide: (judged, caller) => assertMayChange(options, caller, judged),
        audit: audit.withChange(by, (made: UserRecord) => [userEvent('throttle_lifted', made)]),
      });
      if (found === undefined) throw new Refusal('not_found');
      await throttle.lift(accountOf(found));
      return { status: 204 };
    },
  };
}

function accountOf({ user }: UserRecord): string {
  return canonicalAccountName(user.username);
}
