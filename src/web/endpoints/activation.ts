import { z } from 'zod';
import type { Endpoint } from '../../endpoints/endpoint.ts';
import type { PasswordSignIn } from '../../endpoints/password-sign-in.ts';
import { Refusal } from '../../errors.ts';
import { readForm } from '../../input/url-encoded.ts';
import type { Records } from '../../stores/records.ts';
import type { WebArea } from '../area.ts';
import type { BrowserSessions } from '../browser-sessions.ts';
import { activatedPage, activatePage } from '../pages/activate.ts';
import type { Problem } from '../pages/problem.ts';
import { destinationOf } from '../return-to.ts';
import { anyone, callApi, formAction, pageReply, refusedForm, sentField, shownPage } from './page.ts';

const credentials = z.object({ username: z.string(), password: z.string() });

/** Creates `<path>/activate`, which creates the first administrator and, if there is a `login`, signs them in. */
export function createActivationPage(options: {
  readonly area: WebArea;
  readonly sessions: BrowserSessions;
  readonly records: Pick<Records, 'bootstrap'>;
  /** `POST /api/bootstrap/activate`. */
  readonly activate: Endpoint<'open'>;
  /** Sign-in by password; null if `web.password` is false. */
  readonly login: PasswordSignIn | null;
  readonly minPasswordLength: number;
}): readonly Endpoint<'open'>[] {
  const { area, sessions, records, activate, login, minPasswordLength } = options;
  const path = `${area.path}/activate`;
  return [
    shownPage(path, async (call) => {
      const render = (problem: Problem | null) => activatePage(area.site, { minPasswordLength, problem });
      if ((await records.bootstrap()).open) return pageReply(render(null));
      return refusedForm(area, call, new Refusal('already_activated'), render);
    }),
    formAction(area, path, async (call) => {
      const { exchange, body, contentType } = call;
      try {
        await callApi(activate, call, ['token', 'username', 'password'], anyone);
        const { username, password } = readForm(body, contentType, credentials);
        if (login === null) return pageReply(activatedPage(area.site, { username }));
        const signedIn = await login.signIn(exchange, { username, password, scope: '' });
        return await sessions.begin(exchange, signedIn, destinationOf(area, exchange, null, 'password'));
      } catch (error) {
        const [token = '', username = ''] = [sentField(call, 'token'), sentField(call, 'username')];
        return refusedForm(area, call, error, (problem) =>
          activatePage(area.site, { token, username, minPasswordLength, problem }),
        );
      }
    }),
  ];
}
