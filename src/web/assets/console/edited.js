/** A change of a record: only different fields are sent, and never over someone else's later change. */

import { useContext, useRef, useState } from 'preact/hooks';
import { ApiError, inWords } from './api.js';
import { Console } from './context.js';
import { Form, sent } from './form.js';
import { useAction } from './loaded.js';
import { html, Problem } from './show.js';
import { Text } from './text.js';

/** @typedef {{ readonly field: string, readonly before: string, readonly now: string }} Difference */

/**
 * A form for changing a record. `onTaken` is called to show someone else's version. `conflict` returns an objection to a change,
 * `spell` the words for a value.
 * @param {{
 *   readonly title: string,
 *   readonly path: string,
 *   readonly original: any,
 *   readonly etag: string | null,
 *   readonly names: Readonly<Record<string, string>>,
 *   readonly spell?: (name: string, value: string) => string,
 *   readonly read: (form: import('./form.js').Sent) => Record<string, unknown>,
 *   readonly isSaved: boolean,
 *   readonly onSaved: () => void,
 *   readonly onTaken: () => void,
 *   readonly conflict?: (changes: Record<string, unknown>) => unknown,
 *   readonly confirm?: (changes: Record<string, unknown>) => Promise<unknown>,
 *   readonly children?: unknown,
 * }} options
 */
export function Edited({
  title,
  path,
  original,
  etag,
  names,
  spell = (_, value) => value,
  read,
  isSaved,
  onSaved,
  onTaken,
  conflict,
  confirm,
  children,
}) {
  const { api } = useContext(Console);
  const [others, setOthers] = useState(/** @type {readonly Difference[] | null} */ (null));
  const [asked, setAsked] = useState(
    /** @type {{ readonly changes: Record<string, unknown>, readonly words: unknown } | null} */ (null),
  );
  // A save replaces this form by one for the new version, which begins with the message.
  const [said, setSaid] = useState(isSaved ? 'Saved.' : '');
  const save = useAction(async (/** @type {Record<string, unknown>} */ changes) => {
    try {
      await inWords({ conflict: conflict?.(changes) }, api.patch(path, changes, etag));
      setAsked(null);
      onSaved();
    } catch (error) {
      setAsked(null);
      if (error instanceof ApiError && error.code === 'precondition_failed')
        setOthers(differences(original, (await api.get(path)).value, names, spell));
      throw error;
    }
  });
  const entries = useRef(0);
  const ask = useAction(async (/** @type {Record<string, unknown>} */ changes) => {
    const before = entries.current;
    const words = await confirm?.(changes);
    // Entries have changed since the question.
    if (entries.current !== before) return;
    if (words === undefined || words === null) await save.run(changes);
    else setAsked({ changes, words });
  });
  /** @param {SubmitEvent} event */
  const submit = (event) => {
    const values = read(sent(event));
    const changes = Object.fromEntries(
      Object.entries(values).filter(([name, value]) => !isSame(value, original[name])),
    );
    setSaid(Object.keys(changes).length === 0 ? 'Nothing has changed.' : '');
    if (Object.keys(changes).length > 0) void ask.run(changes);
  };
  const edit = () => {
    entries.current++;
    setAsked(null);
  };
  const isCounting = confirm !== undefined && ask.isRunning && !save.isRunning;
  const error = save.error ?? ask.error;
  return html`
    <section aria-labelledby="change">
      <h2 id="change">${title}</h2>
      <${Form} class="edit" onSubmit=${submit} onInput=${edit} error=${error}>
        ${children}
        ${error !== null && html`<${Problem} error=${error} />`}
        ${others !== null && html`<${Differences} others=${others} onTaken=${onTaken} />`}
        ${
          asked !== null &&
          html`
            <div class="notice" role="alertdialog" aria-label="Please confirm">
              <div>${asked.words}</div>
              <div class="choices">
                <button type="button" class="button button-danger" disabled=${save.isRunning} onClick=${() => save.run(asked.changes)}>Save anyway</button>
                <button type="button" class="button button-secondary" onClick=${() => setAsked(null)}>Cancel</button>
              </div>
            </div>
          `
        }
        <div class="choices">
          ${asked === null && html`<button type="submit" class="button button-primary" disabled=${save.isRunning || ask.isRunning}>Save</button>`}
          <span role="status">${isCounting ? 'Counting…' : said}</span>
        </div>
      <//>
    </section>
  `;
}

/** @param {{ readonly others: readonly Difference[], readonly onTaken: () => void }} options */
function Differences({ others, onTaken }) {
  return html`
    <div class="notice" role="status">
      <div>
        <p>Someone else has changed:</p>
        <ul>
          ${others.map(({ field, before, now }) => html`<li><strong>${field}</strong>: <${Text} of=${before || 'nothing'} /> → <${Text} of=${now || 'nothing'} /></li>`)}
        </ul>
      </div>
      <button type="button" class="small" onClick=${onTaken}>Show what is there now</button>
    </div>
  `;
}

/**
 * @param {any} before
 * @param {any} now
 * @param {Readonly<Record<string, string>>} names
 * @param {(name: string, value: string) => string} spell
 * @returns {readonly Difference[]}
 */
function differences(before, now, names, spell) {
  const textOf = (/** @type {string} */ name, /** @type {unknown} */ value) => {
    if (Array.isArray(value)) return value.map((each) => spell(name, each)).join(', ');
    return value === null || value === undefined ? '' : spell(name, String(value));
  };
  return Object.entries(names)
    .filter(([name]) => !isSame(before[name], now[name]))
    .map(([name, field]) => ({ field, before: textOf(name, before[name]), now: textOf(name, now[name]) }));
}

/** @param {unknown} one @param {unknown} other */
function isSame(one, other) {
  if (!Array.isArray(one) || !Array.isArray(other)) return one === other;
  return one.length === other.length && one.every((each) => other.includes(each));
}
