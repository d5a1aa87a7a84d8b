/** A new API key, which is shown once. */

import { useContext, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { inWords } from './api.js';
import { Window } from './ask.js';
import { readCatalogue } from './catalogue.js';
import { Command, useRoutes } from './command.js';
import { Console } from './context.js';
import { Expiry, expiryOf } from './expiry.js';
import { Choices, Field, Form, sent } from './form.js';
import { onlyGranted, visibleSets } from './held.js';
import { useAction, useLoaded } from './loaded.js';
import { ScopeChoices } from './scope-choices.js';
import { Copyable, html, Problem } from './show.js';
import { Text } from './text.js';

/** @typedef {{ readonly id: string, readonly username: string }} Owner */

/**
 * The window in which a key is minted for the signed-in user, or for `owner`, and then shown.
 * @param {{ readonly onClose: () => void, readonly onMinted: () => void, readonly owner?: Owner }} options
 */
export function MintKey({ onClose, onMinted, owner }) {
  const [minted, setMinted] = useState(/** @type {any} */ (null));
  const [isCopied, setCopied] = useState(false);
  if (minted !== null)
    return html`
      <${Window} title="Your new key" onClose=${onClose} isWide=${true} first=${isCopied ? '' : 'Copy the key first: it is not shown again.'}>
        <${MintedKey} minted=${minted} isCopied=${isCopied} onCopied=${() => setCopied(true)} onClose=${onClose} />
      <//>
    `;
  const done = (/** @type {any} */ key) => {
    setMinted(key);
    onMinted();
  };
  const title = owner === undefined ? 'New API key' : html`New API key for <${Text} of=${owner.username} />`;
  return html`<${Window} title=${title} onClose=${onClose} isWide=${true}><${NewKey} owner=${owner} onClose=${onClose} onMinted=${done} /><//>`;
}

/**
 * @typedef {{
 *   readonly catalogue: import('./catalogue.js').Catalogue,
 *   readonly offered: readonly string[],
 *   readonly held: readonly string[],
 *   readonly sets: readonly any[],
 * }} Offer
 */

/**
 * Scopes that the owner holds, those that the caller may give, and the sets that both hold. What only a provider grants, no one
 * but the owner may give.
 * @param {import('./context.js').ConsoleContext} context
 * @param {Owner | undefined} owner
 * @returns {Promise<Offer>}
 */
async function offerFor(context, owner) {
  const { api, served, may } = context;
  const maySeeUsers = served.has('users') && may('users:read');
  const [catalogue, sets, caller] = await Promise.all([
    readCatalogue(context),
    visibleSets(context),
    maySeeUsers ? api.get(`/admin/users/${api.userId}`).then(({ value }) => value) : null,
  ]);
  if (owner === undefined || owner.id === api.userId) {
    const held = [...catalogue.keys()].filter((scope) => api.scopes.has(scope));
    return { catalogue, offered: held, held, sets: sets.filter(({ id }) => holdsSet(caller, id)) };
  }
  const { value } = await api.get(`/admin/users/${owner.id}`);
  const granted = onlyGranted(value, sets);
  const held = /** @type {string[]} */ (value.effective_scopes).filter((scope) => !granted.includes(scope));
  return {
    catalogue,
    offered: held.filter((scope) => api.scopes.has(scope)),
    held,
    sets: sets.filter(({ id }) => holdsSet(caller, id) && holdsSet(value, id)),
  };
}

/**
 * True if a user may pass a set on: an administrator any.
 * @param {any} user Null if the caller may not see the user.
 * @param {string} id
 */
function holdsSet(user, id) {
  const sets = user?.scope_sets ?? [];
  return sets.includes('administrator') || sets.includes(id);
}

/** @param {Owner | undefined} owner @param {boolean} holdsSome */
function noneOf(owner, holdsSome) {
  if (owner === undefined) return 'You hold no scope that a key could have.';
  if (holdsSome) return html`You hold none of the scopes that <${Text} of=${owner.username} /> holds.`;
  return html`<${Text} of=${owner.username} /> holds no scopes yet.`;
}

const scopeless = new Map([['scopes', 'Choose at least one scope: a key without any could do nothing.']]);
/** @type {ReadonlyMap<string, unknown>} */
const nothing = new Map();

/** @param {{ readonly owner: Owner | undefined, readonly onClose: () => void, readonly onMinted: (key: any) => void }} options */
function NewKey({ owner, onClose, onMinted }) {
  const context = useContext(Console);
  const { api } = context;
  const [found, setFound] = useState(nothing);
  const offer = useLoaded(() => offerFor(context, owner), []);
  const mint = useAction(async (/** @type {object} */ body) => {
    const path = owner === undefined ? '/admin/api-keys/' : `/admin/users/${owner.id}/api-keys`;
    const words = owner && {
      conflict: html`<${Text} of=${owner.username} /> is disabled. Enable the user first.`,
    };
    onMinted((await inWords(words ?? {}, api.post(path, body))).value);
  });
  /** @param {SubmitEvent} event */
  const submit = (event) => {
    const form = sent(event);
    const [scopes, sets] = [form.all('scopes'), form.all('scope_sets')];
    const isScopeless = scopes.length + sets.length === 0;
    setFound(isScopeless ? new Map(scopeless) : nothing);
    if (isScopeless) return;
    const expires = expiryOf(form);
    void mint.run({
      label: form.text('label'),
      scopes,
      ...(sets.length === 0 ? {} : { scope_sets: sets }),
      ...(expires === undefined ? {} : { expires }),
    });
  };
  const { value } = offer;
  return html`
    <${Form} onSubmit=${submit} error=${mint.error} found=${found}>
      <${Field} name="label" label="Label" hint="What uses it, such as: nightly export." required=${true} autofocus=${true} />
      ${offer.error !== null && html`<${Problem} error=${offer.error} again=${offer.reload} />`}
      ${
        value !== null &&
        value.sets.length > 0 &&
        html`
          <${Choices}
            name="scope_sets"
            label="Scope sets"
            choices=${value.sets.map((set) => ({ value: set.id, label: set.name, hint: set.description }))}
            chosen=${[]}
            none=""
          />
        `
      }
      <${ScopeChoices}
        key=${value === null ? 'loading' : 'loaded'}
        scopes=${value?.offered ?? []}
        catalogue=${value?.catalogue ?? new Map()}
        chosen=${[]}
        none=${offer.isLoading ? 'Loading…' : noneOf(owner, (value?.held.length ?? 0) > 0)}
      />
      <${Expiry} />
      ${mint.error !== null && html`<${Problem} error=${mint.error} />`}
      <div class="choices">
        <button type="submit" class="button button-primary" disabled=${mint.isRunning}>Create key</button>
        <button type="button" class="button button-secondary" onClick=${onClose}>Cancel</button>
      </div>
    <//>
  `;
}

/**
 * @param {{
 *   readonly minted: any,
 *   readonly isCopied: boolean,
 *   readonly onCopied: () => void,
 *   readonly onClose: () => void,
 * }} options
 */
function MintedKey({ minted, isCopied, onCopied, onClose }) {
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  const routes = useRoutes();
  // The focused element is gone; a second press of Enter must not close the only view of the key.
  useLayoutEffect(() => place.current?.querySelector('pre')?.focus(), []);
  return html`
    <div ref=${place} class="once">
      <p><strong><${Text} of=${minted.label} /></strong>: copy it now. It is not shown again, and no one can look it up.</p>
      <${Copyable} text=${minted.key} what="key" long=${true} onCopied=${onCopied} />
      <${Command} apiKey=${minted} secret=${`'X-API-Key: ${minted.key}'`} routes=${routes} />
      <div class="choices">
        <button type="button" class="button button-primary" onClick=${onClose}>${isCopied ? 'Close' : 'I have copied it'}</button>
      </div>
    </div>
  `;
}
