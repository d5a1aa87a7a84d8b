import type { Endpoint } from '../../endpoints/endpoint.ts';
import type { WebArea } from '../area.ts';
import type { BrowserSessions } from '../browser-sessions.ts';
import { signedOutPage } from '../pages/signed-out.ts';
import { formAction, pageReply, shownPage } from './page.ts';

/** `<path>/sign-out` and `<path>/signed-out`: ends what this browser is signed in to. */
export function createSignOut(area: WebArea, sessions: BrowserSessions): readonly Endpoint<'open'>[] {
  const signedOut = `${area.path}/signed-out`;
  return [
    formAction(area, `${area.path}/sign-out`, async ({ exchange }) => {
      const forgetting = await sessions.end(exchange);
      return { status: 303, headers: ['Location', signedOut, ...forgetting] };
    }),
    shownPage(signedOut, async () => pageReply(signedOutPage(area.site, { stillSignedInAt: null }))),
  ];
}
