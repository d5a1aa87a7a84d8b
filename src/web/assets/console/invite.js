/** An invitation for a person to set a password, whose address is shown once. */

import { useContext, useState } from 'preact/hooks';
import { Window } from './ask.js';
import { Console } from './context.js';
import { useAction } from './loaded.js';
import { NoScopes } from './no-scopes.js';
import { Copyable, html, Problem } from './show.js';
import { Text } from './text.js';
import { Time } from './times.js';

/**
 * The button, and the window with the address; nothing for those who can't be invited. `required`: scopes that the service asks
 * for. `isMain`: true for the main action of the page.
 * @param {{ readonly user: any, readonly required: readonly string[], readonly isMain?: boolean }} options
 */
export function Invite({ user, required, isMain = false }) {
  const { api, area, origin } = useContext(Console);
  const [invitation, setInvitation] = useState(/** @type {any} */ (null));
  const [isCopied, setCopied] = useState(false);
  const invite = useAction(async () => {
    setCopied(false);
    setInvitation((await api.post(`/admin/users/${user.id}/invitation`)).value);
  });
  if (user.kind !== 'person' || user.managed || user.disabled) return null;
  return html`
    <button type="button" class=${`button button-${isMain ? 'primary' : 'secondary'}`} disabled=${invite.isRunning} onClick=${() => invite.run()}>
      Invite to set a password
    </button>
    ${invite.error !== null && html`<${Problem} error=${invite.error} />`}
    ${
      invitation !== null &&
      html`
        <${Window} title="Invitation" onClose=${() => setInvitation(null)} isWide=${true} first=${isCopied ? '' : 'Copy the address first: it is not shown again.'}>
          <p>Send this address to the person: the user name is <strong><${Text} of=${user.username} /></strong>. The first to set a password with it can sign in. It is valid until <${Time} at=${invitation.expires} />, and is not shown again.</p>
          <${Copyable} text=${`${origin}${area}/invitation#token=${invitation.token}`} what="address" long=${true} onCopied=${() => setCopied(true)} />
          ${user.effective_scopes.length === 0 && html`<${NoScopes} username=${user.username} required=${required} />`}
          <div class="choices">
            <button type="button" class="button button-primary" onClick=${() => setInvitation(null)}>Done</button>
          </div>
        <//>
      `
    }
  `;
}
