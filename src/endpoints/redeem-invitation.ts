import { auditingThrottle } from '../administration/audit.ts';
import { isRedeemable } from '../administration/invitations.ts';
import { userEvent } from '../administration/user-events.ts';
import type { Holdings } from '../credentials/holdings.ts';
import { invitationHash } from '../credentials/invitation-token.ts';
import { type PasswordHasher, parsePassword } from '../credentials/passwords.ts';
import type { AddressThrottle } from '../credentials/throttle.ts';
import { Refusal } from '../errors.ts';
import type { Exchange } from '../http/exchange.ts';
import type { Reply } from '../http/reply.ts';
import type { InvitationFound, InvitationRecords } from '../stores/invitation-records.ts';
import type { UserRecord } from '../stores/user-records.ts';
import { readTokenAlone } from './body-token.ts';
import { anonymousIn } from './caller.ts';
import type { Endpoint } from './endpoint.ts';
import { passwordProblems } from './password-rules.ts';
import { invitationRedeem } from './users/invitation-schemas.ts';
import { endSessions, type SessionEndOptions } from './users/user-changes.ts';
import { readWriteBody } from './write-body.ts';

/** What redeeming invitations needs. */
export interface RedeemInvitationOptions extends SessionEndOptions {
  readonly records: Pick<InvitationRecords, 'findInvitation' | 'redeemInvitation'>;
  readonly holdings: Holdings;
  readonly passwords: Pick<PasswordHasher, 'hash'>;
  readonly minPasswordLength: number;
  readonly throttle: AddressThrottle;
  /** Epoch ms. */
  readonly now: () => number;
}

/**
 * `POST /api/login/invitation`: sets the password of the user who is invited, once. It looks at no credential and sets no
 * cookie: a foreign page that has the token gains nothing by letting a visitor present it.
 */
export function createRedeemInvitation(options: RedeemInvitationOptions): Endpoint<'open'> {
  const schema = invitationRedeem(options.minPasswordLength);
  const redemption = new Redemption(options);
  return {
    method: 'POST',
    path: '/api/login/invitation',
    guard: 'open',
    async handle(call) {
      const { exchange, body, contentType } = call;
      const token = readTokenAlone(body, contentType);
      const invited = token === undefined ? undefined : await redemption.requireInvited(exchange, token);
      // What the rules refuse does not consume the invitation.
      const form = await readWriteBody(call, schema, {
        secret: ['token', 'password'],
        judge: ({ password }) => passwordProblems(password, invited?.user.username, 'password'),
      });
      return redemption.respond(exchange, form.token, form.password);
    },
  };
}

/** The steps of a redemption. */
class Redemption {
  readonly #options: RedeemInvitationOptions;

  constructor(options: RedeemInvitationOptions) {
    this.#options = options;
  }

  /**
   * Who is invited. One refusal for unknown, used and expired, and for what may no longer be given; before any other
   * problem.
   */
  async requireInvited(exchange: Exchange, token: string): Promise<UserRecord> {
    const { records, throttle, audit } = this.#options;
    const counted = throttle.attempt(exchange.address);
    const attempt = await auditingThrottle(counted, audit, anonymousIn(exchange), 'invitation_failed');
    const invitation = await records.findInvitation(invitationHash(token));
    if (!this.#isRedeemable(invitation)) throw this.#refused(exchange, invitation);
    await attempt.giveBack();
    return invitation.found;
  }

  async respond(exchange: Exchange, token: string, rawPassword: string): Promise<Reply> {
    const { records, passwords, minPasswordLength } = this.#options;
    const passwordHash = await passwords.hash(parsePassword(rawPassword, minPasswordLength) as string);
    const redeemed = await records
      .redeemInvitation(invitationHash(token), {
        // Anything may have changed while the password was hashed.
        decide: (invitation) => {
          if (this.#isRedeemable(invitation)) return passwordHash;
          throw new Refusal('invalid_invitation');
        },
        audit: this.#redeemed(exchange),
      })
      .catch((error: unknown) => {
        if (error instanceof Refusal && error.code === 'invalid_invitation') return undefined;
        throw error;
      });
    if (redeemed === undefined) throw this.#refused(exchange, undefined);
    await endSessions(this.#options, anonymousIn(exchange), redeemed.user.id);
    return { status: 204 };
  }

  #isRedeemable(invitation: InvitationFound | undefined): invitation is InvitationFound {
    const { holdings, now } = this.#options;
    return invitation !== undefined && isRedeemable(invitation, holdings, now());
  }

  #redeemed(exchange: Exchange) {
    return this.#options.audit.withChange(anonymousIn(exchange), (made: UserRecord) => [
      { ...userEvent('invitation_redeemed', made), changes: { fields: ['password'] } },
    ]);
  }

  #refused(exchange: Exchange, invitation: InvitationFound | undefined): Refusal {
    const subject = invitation?.found.user.id ?? null;
    const event = { event: 'invitation_failed', outcome: 'failure', subject } as const;
    this.#options.audit.record(anonymousIn(exchange), event);
    return new Refusal('invalid_invitation');
  }
}
