import { z } from 'zod';
import type { Endpoint } from '../../endpoints/endpoint.ts';
import { readForm } from '../../input/form-body.ts';
import type { WebArea } from '../area.ts';
import { invitationPage, invitationRedeemedPage } from '../pages/invitation.ts';
import { callApi } from './api-call.ts';
import { formAction, pageReply, refusedForm, shownPage } from './page.ts';

const typed = z.object({ token: z.string().optional().catch(undefined) });
const nobody = { principal: null, recheck: async () => null };

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
        await callApi(redeem, call, ['token', 'password'], nobody);
        return pageReply(invitationRedeemedPage(area.site));
      } catch (error) {
        const { token = '' } = readForm(call.body, call.contentType, typed);
        return refusedForm(area, call, error, (problem) =>
          invitationPage(area.site, { token, minPasswordLength, problem }),
        );
      }
    }),
  ];
}
