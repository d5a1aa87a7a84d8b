import { invitationHash } from '../../credentials/invitation-token.ts';
import type { Endpoint } from '../../endpoints/endpoint.ts';
import { ValidationError } from '../../errors.ts';
import type { InvitationRecords } from '../../stores/invitation-records.ts';
import type { WebArea } from '../area.ts';
import { invitationPage, invitationRedeemedPage } from '../pages/invitation.ts';
import { anyone, callApi, formAction, pageReply, refusedForm, sentField, shownPage } from './page.ts';

/**
 * Creates `<path>/invitation`, which sets an invited person's password. `redeem` is `POST /api/login/invitation`. The page's
 * script sends a token alone to learn whether it is good: 204, or the refusal of a token that is not.
 */
export function createInvitationPage(options: {
  readonly area: WebArea;
  readonly records: Pick<InvitationRecords, 'findInvitation'>;
  readonly redeem: Endpoint<'open'>;
  readonly minPasswordLength: number;
}): readonly Endpoint<'open'>[] {
  const { area, records, redeem, minPasswordLength } = options;
  const path = `${area.path}/invitation`;
  return [
    shownPage(path, async () => pageReply(invitationPage(area.site, { minPasswordLength, problem: null }))),
    formAction(area, path, async (call) => {
      const token = sentField(call, 'token') ?? '';
      const isQuestion = token !== '' && sentField(call, 'password') === undefined;
      try {
        // Before redeeming, which removes the invitation. The result is shown only to someone who redeemed it.
        const invited = await records.findInvitation(invitationHash(token));
        await callApi(redeem, call, ['token', 'password'], anyone);
        return pageReply(invitationRedeemedPage(area.site, { username: invited?.found.user.username ?? '' }));
      } catch (error) {
        // The token is judged first, so that only the password is missing.
        if (isQuestion && error instanceof ValidationError) return { status: 204 };
        return refusedForm(area, call, error, (problem) =>
          invitationPage(area.site, { token, minPasswordLength, problem }),
        );
      }
    }),
  ];
}
