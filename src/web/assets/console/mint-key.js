/** A new API key, which is shown once. */

import { useContext, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { inWords } from './api.js';
import { Window } from './ask.js';
import { Console } from './context.js';
import { Choices, Field, scopeChoices, sent } from './form.js';
import { onlyGranted, visibleSets } from './held.js';
import { useAction, useLoaded } from './loaded.js';
import { Copyable, html, Problem } from './show.js';
import { Text } from './text.js';

/** @typedef {{ readonly id: string, readonly username: string }} Owner */

/**
 * The window in which a key is minted for the signed-in user, or for `owner`, and then shown.
 * @param {{ readonly onClose: () => void, readonly onMinted: () => void, readonly owner?: Owner }} options
 */
export function MintKey({ onClose, onMinted, owner }) {
  const [minted, setMinted] = useState(/** @type {any} */ (null));
  if (minted !== null)
    return html`
      <${Window} title="Your new key" onClose=${onClose} isWide=${true} first="Copy the key first: it is not shown again.">
        <${MintedKey} minted=${minted} onClose=${onClose} />
      <//>
    `;
  const done = (/** @type {any} */ key) => {
    setMinted(key);
    onMinted();
  };
  const title = owner === undefined ? 'New API key' : html`New API key for <${Text} of=${owner.username} />`;
  return html`<${Window} title=${title} onClose=${onClose}><${NewKey} owner=${owner} onClose=${onClose} onMinted=${done} /><//>`;
}

/**
 * Scopes that the owner holds, and those that the caller may give. What only a provider grants, no one but the owner may give.
 * @param {import('./context.js').ConsoleContext} context
 * @param {Owner | undefined} owner
 * @returns {Promise<{ readonly offered: readonly string[], readonly held: readonly string[] }>}
 */
async function scopesFor(context, owner) {
  const { api } = context;
  if (owner === undefined) {
    const catalogue = /** @type {string[]} */ ((await api.get('/api/admin/api-keys/scopes')).value);
    const held = catalogue.filter((scope) => api.scopes.has(scope));
    return { offered: held, held };
  }
  const { value } = await api.get(`/api/admin/users/${owner.id}`);
  const granted = owner.id === api.userId ? [] : onlyGranted(value, await visibleSets(context));
  const held = /** @type {string[]} */ (value.effective_scopes).filter((scope) => !granted.includes(scope));
  return { offered: held.filter((scope) => api.scopes.has(scope)), held };
}

/** @param {Owner | undefined} owner @param {boolean} holdsSome */
function noneOf(owner, holdsSome) {
  if (owner === undefined) return 'You hold no scope that a key could have.';
  if (holdsSome) return html`You hold none of the scopes that <${Text} of=${owner.username} /> holds.`;
  return html`<${Text} of=${owner.username} /> holds no scopes yet.`;
}

/** @param {{ readonly owner: Owner | undefined, readonly onClose: () => void, readonly onMinted: (key: any) => void }} options */
function NewKey({ owner, onClose, onMinted }) {
  const context = useContext(Console);
  const { api } = context;
  const [isScopeless, setScopeless] = useState(false);
  const scopes = useLoaded(() => scopesFor(context, owner), []);
  const mint = useAction(async (/** @type {object} */ body) => {
    const path = owner === undefined ? '/api/admin/api-keys/' : `/api/admin/users/${owner.id}/api-keys`;
    const words = owner && {
      conflict: html`<${Text} of=${owner.username} /> is disabled. Enable the user first.`,
    };
    onMinted((await inWords(words ?? {}, api.post(path, body))).value);
  });
  /** @param {SubmitEvent} event */
  const submit = (event) => {
    const { text, all } = sent(event);
    const expires = text('expires');
    setScopeless(all('scopes').length === 0);
    if (all('scopes').length === 0) return;
    void mint.run({
      label: text('label'),
      scopes: all('scopes'),
      ...(expires === '' ? {} : { expires: new Date(expires).toISOString() }),
    });
  };
  return html`
    <form onSubmit=${submit}>
      <${Field} name="label" label="Label" hint="What uses it, such as: nightly export." required=${true} autofocus=${true} />
      ${scopes.error !== null && html`<${Problem} error=${scopes.error} again=${scopes.reload} />`}
      <${Choices}
        name="scopes"
        label="Scopes"
        choices=${scopeChoices(scopes.value?.offered ?? [])}
        chosen=${[]}
        none=${scopes.isLoading ? 'Loading…' : noneOf(owner, (scopes.value?.held.length ?? 0) > 0)}
      />
      ${isScopeless && html`<div class="notice notice-problem" role="alert"><p>Choose at least one scope: a key without any could do nothing.</p></div>`}
      <${Field} name="expires" label="Expires" type="datetime-local" hint="Leave empty for no expiry, or for the longest lifetime allowed." />
      ${mint.error !== null && html`<${Problem} error=${mint.error} />`}
      <div class="choices">
        <button type="submit" class="button button-primary" disabled=${mint.isRunning}>Create key</button>
        <button type="button" class="button button-secondary" onClick=${onClose}>Cancel</button>
      </div>
    </form>
  `;
}

/** @param {{ readonly minted: any, readonly onClose: () => void }} options */
function MintedKey({ minted, onClose }) {
  const { origin } = useContext(Console);
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  // The focused element is gone; a second press of Enter must not close the only view of the key.
  useLayoutEffect(() => place.current?.querySelector('pre')?.focus(), []);
  const curl = `curl ${origin}/ \\\n  -H 'X-API-Key: ${minted.key}'`;
  return html`
    <div ref=${place} class="once">
      <p><strong><${Text} of=${minted.label} /></strong>: copy it now. It is not shown again, and no one can look it up.</p>
      <${Copyable} text=${minted.key} what="key" long=${true} />
      <p>This calls the service with it; append the path you want to call:</p>
      <${Copyable} text=${curl} what="command" long=${true} />
      <div class="choices">
        <button type="button" class="button button-primary" onClick=${onClose}>I have copied it</button>
      </div>
    </div>
  `;
}
