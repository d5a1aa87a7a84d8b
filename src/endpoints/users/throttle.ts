import { z } from 'zod';
import { timestamp, toTimestamp } from '../../administration/timestamp.ts';
import { liftThrottle, usersWrite } from '../../administration/users.ts';
import { Refusal } from '../../errors.ts';
import { noParameters, readQuery } from '../../input/query.ts';
import { canonicalAccountName } from '../../rules/account-name.ts';
import type { UserRecord } from '../../stores/user-records.ts';
import { callerIn } from '../caller.ts';
import type { EndpointDefinition } from '../endpoint.ts';

const userThrottle = z
  .object({
    failures: z.int().describe('Failed sign-ins that still count.'),
    window_ends: timestamp.nullable().describe('When the last of them stop counting; null: none counts.'),
    refusing: z
      .boolean()
      .describe('Whether sign-ins are refused, from anywhere or from one of the addresses.'),
  })
  .meta({ id: 'UserThrottle' });

/** `GET /api/admin/users/{id}/throttle`. */
export const usersThrottle: EndpointDefinition = {
  id: 'Users-Throttle',
  method: 'GET',
  path: '/api/admin/users/{id}/throttle',
  guard: { scopes: ['users:read'] },
  summary: 'Shows failed sign-ins of a user',
  description: 'As far as they still count against the account; what counts against addresses is not shown.',
  success: { status: 200, description: 'What the login throttle counts.', schema: () => userThrottle },
  refusals: ['not_found'],

  create({ records, throttle, now }) {
    return async ({ id }) => {
      const found = await records.findUserRecord(id);
      if (found === undefined) throw new Refusal('not_found');
      const { failures, remainingMs, isRefusing } = await throttle.stateOf(accountOf(found));
      const body: z.input<typeof userThrottle> = {
        failures,
        window_ends: remainingMs === null ? null : toTimestamp(now() + remainingMs),
        refusing: isRefusing,
      };
      return { status: 200, body };
    };
  },
};

/** `DELETE /api/admin/users/{id}/throttle`: the user may try again at once; what counts against addresses stays. */
export const usersUnlock: EndpointDefinition = {
  id: 'Users-Unlock',
  method: 'DELETE',
  path: '/api/admin/users/{id}/throttle',
  guard: { scopes: usersWrite },
  summary: 'Forgets failed sign-ins of a user',
  description:
    'The user may try again at once, from any address. Refused for a user who effectively holds more than the calling credential.',
  query: () => noParameters,
  success: { status: 204, description: 'Nothing is counted any more.' },
  refusals: ['not_found'],

  create(parts) {
    return async (call) => {
      readQuery(call.exchange.query, noParameters);
      await liftThrottle(parts, parts.throttle, callerIn(call), call.id);
      return { status: 204 };
    };
  },
};

function accountOf({ user }: UserRecord): string {
  return canonicalAccountName(user.username);
}
