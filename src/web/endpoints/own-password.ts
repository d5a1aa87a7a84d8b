import type { Principal } from '../../credentials/principal.ts';
import type { Endpoint } from '../../endpoints/endpoint.ts';
import { Refusal } from '../../errors.ts';
import type { Exchange } from '../../http/exchange.ts';
import type { WebArea } from '../area.ts';
import type { BrowserSessions } from '../browser-sessions.ts';
import { ledToSignIn } from '../led-to-sign-in.ts';
import { passwordChangedPage, passwordPage } from '../pages/password.ts';
import { callApi, formAction, pageReply, refusedForm, shownPage } from './page.ts';

/** Creates `<path>/password`, which changes one's own password. `change` is `PUT /api/self/password`. */
export function createPasswordPage(options: {
  readonly area: WebArea;
  readonly sessions: BrowserSessions;
  readonly change: Endpoint<'session'>;
  readonly minPasswordLength: number;
}): readonly Endpoint<'open'>[] {
  const { area, sessions, change, minPasswordLength } = options;
  const path = `${area.path}/password`;

  async function requireSession(exchange: Exchange): Promise<Principal> {
    const principal = await sessions.current(exchange);
    if (principal === null) throw new Refusal('not_authenticated');
    return principal;
  }

  return [
    shownPage(path, async ({ exchange }) => {
      const principal = await sessions.current(exchange);
      if (principal === null) return ledToSignIn(area, exchange, path);
      const username = principal.username!;
      return pageReply(passwordPage(area.site, { username, minPasswordLength, problem: null }));
    }),
    formAction(area, path, async (call) => {
      const principal = await requireSession(call.exchange);
      const caller = { principal, recheck: () => requireSession(call.exchange) };
      try {
        await callApi(change, call, ['current_password', 'new_password'], caller);
        return pageReply(passwordChangedPage(area.site));
      } catch (error) {
        const username = principal.username!;
        return refusedForm(area, call, error, (problem) =>
          passwordPage(area.site, { username, minPasswordLength, problem }),
        );
      }
    }),
  ];
}
