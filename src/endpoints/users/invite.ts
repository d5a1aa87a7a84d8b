import type { z } from 'zod';
import { invitationMakerOf } from '../../administration/invitations.ts';
import { invitationLifetimeMs, mintInvitation } from '../../credentials/invitation-token.ts';
import { Refusal } from '../../errors.ts';
import { noParameters, readQuery } from '../../input/query.ts';
import type { InvitationRecords } from '../../stores/invitation-records.ts';
import type { UserRecord } from '../../stores/user-records.ts';
import { callerRefOf } from '../caller-ref.ts';
import type { Endpoint } from '../endpoint.ts';
import { toTimestamp } from '../timestamp.ts';
import type { invitation } from './invitation-schemas.ts';
import {
  assertMayChange,
  assertUnmanaged,
  needed,
  type UserChangeOptions,
  userEntry,
} from './user-changes.ts';

/** `POST /api/admin/users/{id}/invitation`: a token by which the user sets a password, shown this once. */
export function createUserInvite(
  options: Pick<UserChangeOptions, 'holdings' | 'now' | 'changeAudit'> & {
    readonly records: Pick<InvitationRecords, 'inviteUser'>;
    readonly random: (byteCount: number) => Uint8Array;
  },
): Endpoint {
  const { records, changeAudit, now, random } = options;
  return {
    method: 'POST',
    path: '/api/admin/users/{id}/invitation',
    guard: { scopes: needed },
    async handle({ exchange, principal, id }) {
      readQuery(exchange.query, noParameters);
      const { token, hash } = mintInvitation(random);
      const created = now();
      const expires = created + invitationLifetimeMs;
      const ref = callerRefOf(principal);
      const invited = await records.inviteUser(id, {
        caller: ref,
        decide(found, caller) {
          assertMayChange(options, caller, found);
          assertUnmanaged(found);
          // It could never be redeemed: a service never signs in.
          if (found.user.kind === 'service') throw new Refusal('conflict');
          return { hash, maker: invitationMakerOf(ref), created, expires };
        },
        audit: changeAudit(exchange, (made: UserRecord) => [
          userEntry('invitation_created', principal, made),
        ]),
      });
      if (invited === undefined) throw new Refusal('not_found');
      const body: z.input<typeof invitation> = { token, expires: toTimestamp(expires) };
      return { status: 201, body };
    },
  };
}
