import { z } from 'zod';
import { redeemInvitation as redeem, requireInvited } from '../administration/invitations.ts';
import { parsePassword } from '../credentials/passwords.ts';
import { anonymousIn } from './caller.ts';
import type { EndpointDefinition } from './endpoint.ts';
import { newPassword, passwordProblems, readTokenAlone, readWriteBody } from './write-body.ts';

/** Schema of a redemption's body. Any string is accepted as token, because a wrong token is refused with 401, not 422. */
function invitationRedeem(minPasswordLength: number) {
  return z
    .strictObject({ token: z.string(), password: newPassword(minPasswordLength) })
    .meta({ id: 'InvitationRedeem' });
}

/**
 * `POST /api/login/invitation`: sets the password of the invited user, once. It reads no credential and sets no cookie, so a
 * foreign page that has the token gains nothing by making a visitor's browser present it.
 */
export const redeemInvitation: EndpointDefinition<'open'> = {
  id: 'Authentication-RedeemInvitation',
  method: 'POST',
  path: '/api/login/invitation',
  guard: 'open',
  summary: 'Sets a password with an invitation',
  description:
    'Once, and only while the one who invited may still give what the user holds. Ends all sessions of the user. A malformed password does not use the invitation up. Wrong tokens are counted per address.',
  body: { schema: () => invitationRedeem(1) },
  success: { status: 204, description: 'The password is set. No body.' },
  refusals: ['invalid_invitation', 'too_many_attempts', 'overloaded', 'store_unavailable'],

  create(parts) {
    const { passwords, minPasswordLength } = parts;
    const schema = invitationRedeem(minPasswordLength);
    return async (call) => {
      const { exchange, body, contentType } = call;
      const by = anonymousIn(exchange);
      const token = readTokenAlone(body, contentType);
      const invited =
        token === undefined ? undefined : await requireInvited(parts, by, token, exchange.address);
      // A password that the rules refuse does not use up the invitation.
      const form = await readWriteBody(call, schema, {
        secret: ['token', 'password'],
        judge: ({ password }) => passwordProblems(password, invited?.user.username, 'password'),
      });
      const password = parsePassword(form.password, minPasswordLength) as string;
      await redeem(parts, by, form.token, await passwords.hash(password));
      return { status: 204 };
    };
  },
};
