import type { Endpoint } from '../../endpoints/endpoint.ts';
import type { WebArea } from '../area.ts';
import { invitationPage, invitationRedeemedPage } from '../pages/invitation.ts';
import { anyone, callApi } from './api-call.ts';
import { formAction, pageReply, refusedForm, sentField, shownPage } from './page.ts';

/** `<path>/invitation`: sets the password of the person who is invited. `redeem` is `POST /api/login/invitation`. */
export function createInvitationPage(options: {
  readonly area: WebArea;
  readonly redeem: Endpoint<'open'>;
  readonly minPasswordLength: number;
}): readonly Endpoint<'open'>[] {
  const { area, redeem, minPasswordLength } = options;
  const path = `${area.path}/invitation`;
  return [
    shownPage(path, async () => pageReply(invitationPage(area.site, { minPasswordLength, problem: null }))),
    formAction(area, path, async (call) => {
      try {
        await callApi(redeem, call, ['token', 'password'], anyone);
        return pageReply(invitationRedeemedPage(area.site));
      } catch (error) {
        const token = sentField(call, 'token') ?? '';
        return refusedForm(area, call, error, (problem) =>
          invitationPage(area.site, { token, minPasswordLength, problem }),
        );
      }
    }),
  ];
}
