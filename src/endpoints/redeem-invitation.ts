import { z } from 'zod';
import { auditingThrottle } from '../administration/audit.ts';
import { isRedeemable, redeemInvitation as redeem } from '../administration/invitations.ts';
import { invitationHash } from '../credentials/invitation-token.ts';
import { parsePassword } from '../credentials/passwords.ts';
import { isRefusal, Refusal } from '../errors.ts';
import type { Exchange } from '../http/exchange.ts';
import type { Reply } from '../http/reply.ts';
import type { InvitationFound } from '../stores/invitation-records.ts';
import type { UserRecord } from '../stores/user-records.ts';
import { newPassword } from './account-fields.ts';
import { anonymousIn } from './caller.ts';
import type { EndpointDefinition } from './endpoint.ts';
import type { EndpointParts } from './endpoint-parts.ts';
import { passwordProblems, readTokenAlone, readWriteBody } from './write-body.ts';

/** Use of an invitation; any string is accepted as token here, because a wrong token is 401. */
function invitationRedeem(minPasswordLength: number) {
  return z
    .strictObject({ token: z.string(), password: newPassword(minPasswordLength) })
    .meta({ id: 'InvitationRedeem' });
}

/**
 * `POST /api/login/invitation`: sets the password of the user who is invited, once. It looks at no credential and sets no
 * cookie: a foreign page that has the token gains nothing by letting a visitor present it.
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
    const schema = invitationRedeem(parts.minPasswordLength);
    const redemption = new Redemption(parts);
    return async (call) => {
      const { exchange, body, contentType } = call;
      const token = readTokenAlone(body, contentType);
      const invited = token === undefined ? undefined : await redemption.requireInvited(exchange, token);
      // What the rules refuse does not consume the invitation.
      const form = await readWriteBody(call, schema, {
        secret: ['token', 'password'],
        judge: ({ password }) => passwordProblems(password, invited?.user.username, 'password'),
      });
      return redemption.respond(exchange, form.token, form.password);
    };
  },
};

/** Steps of a redemption. */
class Redemption {
  readonly #parts: EndpointParts;

  constructor(parts: EndpointParts) {
    this.#parts = parts;
  }

  /** The invited user. Unknown, used, expired and no longer valid invitations are refused alike, before any other problem. */
  async requireInvited(exchange: Exchange, token: string): Promise<UserRecord> {
    const { records, tokenThrottles, audit } = this.#parts;
    const counted = tokenThrottles.invitation.attempt(exchange.address);
    const attempt = await auditingThrottle(counted, audit, anonymousIn(exchange), 'invitation_failed');
    const invitation = await records.findInvitation(invitationHash(token));
    if (!this.#isRedeemable(invitation)) throw this.#refused(exchange, invitation);
    await attempt.giveBack();
    return invitation.found;
  }

  async respond(exchange: Exchange, token: string, rawPassword: string): Promise<Reply> {
    const { passwords, minPasswordLength } = this.#parts;
    const passwordHash = await passwords.hash(parsePassword(rawPassword, minPasswordLength) as string);
    try {
      await redeem(this.#parts, anonymousIn(exchange), token, passwordHash);
    } catch (error) {
      throw isRefusal(error, 'invalid_invitation') ? this.#refused(exchange, undefined) : error;
    }
    return { status: 204 };
  }

  #isRedeemable(invitation: InvitationFound | undefined): invitation is InvitationFound {
    const { holdings, now } = this.#parts;
    return invitation !== undefined && isRedeemable(invitation, holdings, now());
  }

  #refused(exchange: Exchange, invitation: InvitationFound | undefined): Refusal {
    const subject = invitation?.found.user.id ?? null;
    const event = { event: 'invitation_failed', outcome: 'failure', subject } as const;
    this.#parts.audit.record(anonymousIn(exchange), event);
    return new Refusal('invalid_invitation');
  }
}
