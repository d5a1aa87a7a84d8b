/** Actions on a user: invite again, unlock, disable, sign out everywhere, remove. */

import { useContext, useState } from 'preact/hooks';
import { go } from './address.js';
import { isStale } from './api.js';
import { Question } from './ask.js';
import { Console } from './context.js';
import { counted, ending } from './counts.js';
import { Invite } from './invite.js';
import { isPending, useAction, useLoaded } from './loaded.js';
import { say } from './said.js';
import { html, Problem } from './show.js';
import { isolated, Text } from './text.js';
import { stateOf } from './user-state.js';

/**
 * @param {{
 *   readonly user: any,
 *   readonly etag: string | null,
 *   readonly required: readonly string[],
 *   readonly onDone: () => void,
 *   readonly onEnded: () => void,
 * }} options
 */
export function UserActions({ user, etag, required, onDone, onEnded }) {
  const { api, root, served, may } = useContext(Console);
  const [asked, setAsked] = useState(/** @type {'disable' | 'end' | 'remove' | null} */ (null));
  const path = `/admin/users/${user.id}`;
  const throttle = useLoaded(async () => (await api.get(`${path}/throttle`)).value, [user.id]);
  const unlock = useAction(async () => {
    await api.delete(`${path}/throttle`);
    throttle.reload();
    say(`Reset the failed sign-ins of ${isolated(user.username)}.`);
  });
  const enable = useAction(async () => {
    await api.patch(path, { disabled: false }, etag).catch((error) => {
      if (isStale(error)) onDone();
      throw error;
    });
    onDone();
    say(`Enabled ${isolated(user.username)}.`);
  });

  /** Numbers of keys and sessions that end with the user; null if the caller may not see them. */
  const count = async () => ({ keys: await keysOf(), sessions: await sessionsOf() });
  async function keysOf() {
    return may('apikeys:read')
      ? (await api.get(`/admin/api-keys/?size=1&created_by__eq=${user.id}`)).value.total
      : null;
  }
  async function sessionsOf() {
    const maySee = served.has('admin_sessions') && may('sessions:read');
    return maySee ? (await api.get(`/admin/sessions/?size=1&user__eq=${user.id}`)).value.total : null;
  }

  const keysIn = (/** @type {any} */ found) => counted(found?.keys, 'API key', 'API keys');
  const sessionsIn = (/** @type {any} */ found) => counted(found?.sessions, 'session', 'sessions');
  const name = html`<${Text} of=${user.username} />`;
  const nothing = html`${name} has no sessions and no API keys.`;
  const problem = [unlock, enable].find(({ error }) => error !== null)?.error;
  const isLocked = throttle.value?.refusing === true;
  return html`
    <section aria-labelledby="actions">
      <h2 id="actions">Actions</h2>
      ${problem && html`<${Problem} error=${problem} />`}
      <div class="choices" hidden=${isPending(throttle)}>
        ${stateOf(user) === 'enabled' && html`<${Invite} user=${user} required=${required} />`}
        ${throttle.value?.failures > 0 && html`<button type="button" class="button button-secondary" onClick=${() => unlock.run()}>${isLocked ? 'Unlock' : `Reset failed sign-ins (${throttle.value.failures.toLocaleString()})`}</button>`}
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
          done=${`Disabled ${isolated(user.username)}.`}
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
          done=${`Signed ${isolated(user.username)} out everywhere.`}
          onClose=${() => setAsked(null)}
          act=${async () => {
            await api.delete(`/admin/sessions/?user=${user.id}`);
            onEnded();
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
          done=${`Removed ${isolated(user.username)}.`}
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
  `;
}
