/** The question before an API key is deleted. */

import { useContext, useState } from 'preact/hooks';
import { Question } from './ask.js';
import { Console } from './context.js';
import { counted } from './counts.js';
import { useLoaded } from './loaded.js';
import { html } from './show.js';
import { isolated, Text } from './text.js';

/** Maximum number of keys whose descendants are counted. */
const mostRead = 20;

/**
 * The number of keys that were made with a key, and with those; null if there are too many to count.
 * @param {import('./api.js').Api} api
 * @param {string} id
 */
async function descendantsOf(api, id) {
  const open = [id];
  let count = 0;
  for (let read = 0; open.length > 0; read++) {
    if (read === mostRead) return null;
    const { value } = await api.get(`/admin/api-keys/?size=100&parent__eq=${open.shift()}`);
    if (value.next_page !== null) return null;
    count += value.total;
    open.push(...value.items.map((/** @type {any} */ key) => key.id));
  }
  return count;
}

/** @param {{ readonly apiKey: any, readonly onClose: () => void, readonly onDeleted: () => void }} options */
export function DeleteKey({ apiKey, onClose, onDeleted }) {
  const { api } = useContext(Console);
  const [withChildren, setWithChildren] = useState(false);
  const descendants = useLoaded(() => descendantsOf(api, apiKey.id), [apiKey.id]).value ?? 0;
  const many = counted(descendants, 'descendant', 'descendants') || 'descendants';
  return html`
    <${Question}
      title=${html`Delete the key “<${Text} of=${apiKey.label} />”?`}
      confirm=${withChildren ? `Delete it and its ${many}` : 'Delete key'}
      done=${`Deleted ${isolated(apiKey.label)}${withChildren ? ` and its ${many}` : ''}.`}
      onClose=${onClose}
      onStale=${onDeleted}
      act=${async () => {
        await api.delete(`/admin/api-keys/${apiKey.id}${withChildren ? '?children=true' : ''}`);
        onDeleted();
      }}
    >
      <p>Requests with <code>${apiKey.hint}…</code> are refused immediately, and its open connections are closed.</p>
      <label class="choice">
        <input type="checkbox" checked=${withChildren} onChange=${() => setWithChildren(!withChildren)} />
        <span>Also delete every key that was made with it, and every key made with those${descendants > 0 && `: ${descendants.toLocaleString()} now`}</span>
      </label>
    <//>
  `;
}
