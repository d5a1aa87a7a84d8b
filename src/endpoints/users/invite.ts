import type { z } from 'zod';
import { invitationMakerOf } from '../../administration/invitations.ts';
import { toTimestamp } from '../../administration/timestamp.ts';
import { userEvent } from '../../administration/user-events.ts';
import { invitationLifetimeMs, mintInvitation } from '../../credentials/invitation-token.ts';
import { Refusal } from '../../errors.ts';
import { noParameters, readQuery } from '../../input/query.ts';
import type { UserRecord } from '../../stores/user-records.ts';
import { callerIn } from '../caller.ts';
import type { EndpointDefinition } from '../endpoint.ts';
import { invitation } from './invitation-schemas.ts';
import { assertMayChange, assertUnmanaged, needed } from './user-changes.ts';

/** `POST /api/admin/users/{id}/invitation`: a token by which the user sets a password, shown this once. */
export const usersInvite: EndpointDefinition = {
  id: 'Users-Invite',
  method: 'POST',
  path: '/api/admin/users/{id}/invitation',
  guard: { scopes: needed },
  summary: 'Invites a user to set a password',
  description:
    'The token is shown this once and can be redeemed within seven days; an earlier one of the user ends. Refused for a user who effectively holds more than the calling credential.',
  query: () => noParameters,
  success: { status: 201, description: 'The invitation.', schema: () => invitation },
  refusals: ['not_found', 'managed', 'conflict'],

  create(parts) {
    const { records, audit, now, random } = parts;
    return async (call) => {
      const by = callerIn(call);
      readQuery(call.exchange.query, noParameters);
      const { token, hash } = mintInvitation(random);
      const created = now();
      const expires = created + invitationLifetimeMs;
      const invited = await records.inviteUser(call.id, {
        caller: by.ref,
        decide(found, caller) {
          assertMayChange(parts, caller, found);
          assertUnmanaged(found);
          // It could never be redeemed: a service never signs in.
          if (found.user.kind === 'service') throw new Refusal('conflict');
          return { hash, maker: invitationMakerOf(by.ref), created, expires };
        },
        audit: audit.withChange(by, (made: UserRecord) => [userEvent('invitation_created', made)]),
      });
      if (invited === undefined) throw new Refusal('not_found');
      const body: z.input<typeof invitation> = { token, expires: toTimestamp(expires) };
      return { status: 201, body };
    };
  },
};
