import { z } from 'zod';
import { inviteUser } from '../../administration/invitations.ts';
import { timestamp, toTimestamp } from '../../administration/timestamp.ts';
import { usersWrite } from '../../administration/users.ts';
import { noParameters, readQuery } from '../../input/query.ts';
import { callerIn } from '../caller.ts';
import type { EndpointDefinition } from '../endpoint.ts';

const invitation = z
  .object({
    token: z.string().describe('Shown this once; the user presents it with a new password.'),
    expires: timestamp,
  })
  .meta({ id: 'Invitation' });

/** `POST /api/admin/users/{id}/invitation`: a token by which the user sets a password, shown this once. */
export const usersInvite: EndpointDefinition = {
  id: 'Users-Invite',
  method: 'POST',
  path: '/api/admin/users/{id}/invitation',
  guard: { scopes: usersWrite },
  summary: 'Invites a user to set a password',
  description:
    'The token is shown this once and can be redeemed within seven days; an earlier one of the user ends. Refused for a user who effectively holds more than the calling credential.',
  query: () => noParameters,
  success: { status: 201, description: 'The invitation.', schema: () => invitation },
  refusals: ['not_found', 'managed', 'conflict'],

  create(parts) {
    return async (call) => {
      readQuery(call.exchange.query, noParameters);
      const { token, expires } = await inviteUser(parts, callerIn(call), call.id);
      const body: z.input<typeof invitation> = { token, expires: toTimestamp(expires) };
      return { status: 201, body };
    };
  },
};
