/** Actions on a user: invite, unlock, disable, sign out everywhere, remove. */

import { useContext, useState } from 'preact/hooks';
import { go } from './address.js';
import { isStale } from './api.js';
import { Question, Window } from './ask.js';
import { Console } from './context.js';
import { counted, ending } from './counts.js';
import { useAction, useLoaded } from './loaded.js';
import { Copyable, html, Problem, Time } from './show.js';
import { Text } from './text.js';

/** @param {{ readonly user: any, readonly etag: string | null, readonly onDone: () => void }} options */
export function UserActions({ user, etag, onDone }) {
  const { api, area, origin, root, served, may } = useContext(Console);
  const [asked, setAsked] = useState(/** @type {'disable' | 'end' | 'remove' | null} */ (null));
  const [invitation, setInvitation] = useState(/** @type {any} */ (null));
  const path = `/api/admin/users/${user.id}`;
  const throttle = useLoaded(async () => (await api.get(`${path}/throttle`)).value, [user.id]);
  const invite = useAction(async () => setInvitation((await api.post(`${path}/invitation`)).value));
  const unlock = useAction(async () => {
    await api.delete(`${path}/throttle`);
    throttle.reload();
  });
  const enable = useAction(async () => {
    await api.patch(path, { disabled: false }, etag).catch((error) => {
      if (isStale(error)) onDone();
      throw error;
    });
    onDone();
  });

  /** Numbers of keys and sessions that end with the user; null if the caller may not see them. */
  const count = async () => ({ keys: await keysOf(), sessions: await sessionsOf() });
  async function keysOf() {
    return may('apikeys:read')
      ? (await api.get(`/api/admin/api-keys/?size=1&created_by__eq=${user.id}`)).value.total
      : null;
  }
  async function sessionsOf() {
    const maySee = served.has('admin_sessions') && may('sessions:read');
    return maySee ? (await api.get(`/api/admin/sessions/?size=1&user__eq=${user.id}`)).value.total : null;
  }

  const keysIn = (/** @type {any} */ found) => counted(found?.keys, 'API key', 'API keys');
  const sessionsIn = (/** @type {any} */ found) => counted(found?.sessions, 'session', 'sessions');
  const name = html`<${Text} of=${user.username} />`;
  const nothing = html`${name} has no sessions and no API keys.`;
  const problem = [invite, unlock, enable].find(({ error }) => error !== null)?.error;
  const isLocked = throttle.value?.refusing === true;
  return html`
    <section aria-labelledby="actions">
      <h2 id="actions">Actions</h2>
      ${problem && html`<${Problem} error=${problem} />`}
      <div class="choices">
        ${
          user.kind === 'person' &&
          !user.managed &&
          !user.disabled &&
          html`<button type="button" class="button button-secondary" onClick=${() => invite.run()}>Invite to set a password</button>`
        }
        ${throttle.value?.failures > 0 && html`<button type="button" class="button button-secondary" onClick=${() => unlock.run()}>${isLocked ? 'Unlock' : `Clear ${counted(throttle.value.failures, 'failed attempt', 'failed attempts')}`}</button>`}
        ${
          !user.managed &&
          (user.disabled
            ? html`<button type="button" class="button button-secondary" onClick=${() => enable.run()}>Enable</button>`
            : html`<button type="button" class="button button-secondary" onClick=${() => setAsked('disable')}>Disable</button>`)
        }
        ${
          served.has('admin_sessions') &&
          may('sessions:write') &&
          html`<button type="button" class="button button-secondary" onClick=${() => setAsked('end')}>Sign out everywhere</button>`
        }
        ${!user.managed && html`<button type="button" class="button button-danger" onClick=${() => setAsked('remove')}>Remove</button>`}
      </div>
    </section>
    ${
      asked === 'disable' &&
      html`
        <${Question}
          title=${html`Disable ${name}?`}
          confirm="Disable"
          onClose=${() => setAsked(null)}
          onStale=${onDone}
          act=${async () => {
            await api.patch(path, { disabled: true }, etag);
            onDone();
          }}
          count=${count}
          version=${etag}
          words=${(/** @type {any} */ found) => html`
            ${ending([sessionsIn(found), 'end'], [keysIn(found), 'be suspended']) || nothing}
            ${keysIn(found) !== '' && ' Enabling the user again revives the keys.'}
          `}
        />
      `
    }
    ${
      asked === 'end' &&
      html`
        <${Question}
          title=${html`Sign ${name} out everywhere?`}
          confirm="Sign out"
          onClose=${() => setAsked(null)}
          act=${async () => {
            await api.delete(`/api/admin/sessions/?user=${user.id}`);
          }}
          count=${async () => ({ sessions: await sessionsOf() })}
          version=${etag}
          words=${(/** @type {any} */ found) => html`
            ${ending([sessionsIn(found), 'end']) || html`${name} has no sessions.`} API keys keep working.
          `}
        />
      `
    }
    ${
      asked === 'remove' &&
      html`
        <${Question}
          title=${html`Remove ${name}?`}
          confirm="Remove for good"
          onClose=${() => setAsked(null)}
          onStale=${onDone}
          act=${async () => {
            await api.delete(path, etag);
            go(`${root}/users`);
          }}
          count=${count}
          version=${etag}
          words=${(/** @type {any} */ found) => html`
            ${ending([sessionsIn(found), 'end'], [keysIn(found), 'be deleted']) || nothing} This can’t be undone.
          `}
        />
      `
    }
    ${
      invitation !== null &&
      html`
        <${Window} title="Invitation" onClose=${() => setInvitation(null)} isWide=${true} first="Copy the address first: it is not shown again.">
          <p>Send this address to the person: the user name is <strong>${name}</strong>. The first to set a password with it can sign in. It is valid until <${Time} at=${invitation.expires} />, and is not shown again.</p>
          <${Copyable} text=${`${origin}${area}/invitation#token=${invitation.token}`} what="address" long=${true} />
          <div class="choices">
            <button type="button" class="button button-primary" onClick=${() => setInvitation(null)}>Done</button>
          </div>
        <//>
      `
    }
  `;
}
